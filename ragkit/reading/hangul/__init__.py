"""Documents of Hangul, the word processor of Korea."""
