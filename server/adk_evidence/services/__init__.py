"""Clients of services: retries, circuit breaker, time-outs and keys."""
