"""The graphs by name, and what writes each of them to a path."""

GRAPHS = {}


def graph(name):
    """Registers the function that writes the graph of this name."""

    def register(write):
        GRAPHS[name] = write
        return write

    return register


def save(model, path):
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
