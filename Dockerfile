# The proxy as a sidecar. Everything is set by the environment: CHAOSPROXY_UPSTREAM (needed), CHAOSPROXY_SCENARIO,
# CHAOSPROXY_JOURNAL and so on; every option of `run` has its variable. Stops at SIGTERM, within CHAOSPROXY_GRACE.
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY chaosproxy chaosproxy
COPY scenarios scenarios
RUN pip install --no-cache-dir --no-compile --prefix=/install ".[br,zstd]"

FROM python:3.13-slim
COPY --from=build /install /usr/local
ENV CHAOSPROXY_LISTEN=0.0.0.0:8666
EXPOSE 8666
# Nobody in particular; mount scenarios for it to read, and a directory that it may write for a journal.
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=2s --timeout=3s --start-period=2s --retries=5 CMD ["chaosproxy", "healthcheck"]
ENTRYPOINT ["chaosproxy"]
CMD ["run"]
