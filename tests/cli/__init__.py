"""The console command, as people use it."""
