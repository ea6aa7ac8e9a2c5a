"""Training: credit by seat, the network in torch and numpy, saving and loading, runs that survive."""
