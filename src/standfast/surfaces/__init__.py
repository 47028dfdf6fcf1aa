"""Thin surfaces: translate, call, translate back; they never import each other."""
