"""The pages of searches. A live page hears a number, and reads over HTTP what came after its own."""
