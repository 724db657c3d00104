# docker build -t hedgerow .
# docker run --rm --network none -v "$PWD:/data" hedgerow verify release/
FROM python:3.13-slim

COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
RUN pip install --no-cache-dir "/src[excel,plot,stats]" \
    && rm -r /src \
    && useradd --create-home --uid 1000 hedgerow

# kernels are compiled once, by whoever runs them
USER 1000
RUN hedgerow warm-up

WORKDIR /data
ENTRYPOINT ["hedgerow"]
CMD ["--help"]
