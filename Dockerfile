# bookwheel serve in a container: docker build -t bookwheel . ; docs/operations.md says how to run it.
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY src src
RUN python -m venv /opt/bookwheel && /opt/bookwheel/bin/pip install --no-cache-dir .

FROM python:3.12-slim
LABEL io.modelcontextprotocol.server.name="io.github.bookwheel/bookwheel"
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin bookwheel \
 && install -d -o bookwheel -g bookwheel -m 0700 /index /config
COPY --from=build /opt/bookwheel /opt/bookwheel
ENV PATH=/opt/bookwheel/bin:$PATH \
    BOOKWHEEL_INDEX=/index \
    BOOKWHEEL_TOKENS=/config/tokens.json \
    BOOKWHEEL_LOG_FORMAT=json
# An index that is made while the image is built starts at once, also on a read-only file system:
#   FROM bookwheel
#   COPY --chown=bookwheel docs /docs
#   RUN bookwheel index /docs
USER bookwheel
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8765/healthz', timeout=4)"]
ENTRYPOINT ["bookwheel"]
CMD ["serve", "/docs", "--http", "0.0.0.0:8765"]
