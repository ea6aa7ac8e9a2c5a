"""What does not know which game is played, tried on High Card and on the games there are."""
