"""Roles: explain who may do what by sets of permissions that users share."""
