"""What is read of search runs, for those who may see them."""
