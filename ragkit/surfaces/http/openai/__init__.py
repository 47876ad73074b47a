"""ragkit as a model behind OpenAI's API: chat front ends ask it as they ask any other."""
