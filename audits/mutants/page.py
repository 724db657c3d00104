def summary(found):
    s = [f for f in found if f["verdict"] == "survived"]
    return f"{len(found)} tried, {len(s)} survived", not s


def write_page():
    pass


def write_verdicts(a, b):
    pass
