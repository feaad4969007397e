"""What may answer: the hits of every branch and collection, and what the request names outright."""
