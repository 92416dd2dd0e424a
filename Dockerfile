# The image of Proreus: the compiled program, its production dependencies and the Node.js of the lock file, as an ordinary user.
#
#   docker build --tag proreus:0.1.0 .
#
# `npm run image` does that too, and also where there is no container engine or no registry.
#
# Base images are pinned by the digest of their index, for all platforms. To renew one, take the digest that
# `docker buildx imagetools inspect IMAGE:TAG` prints for the tag beside it, and the date; the tag alone decides nothing.
#
# BASE replaces every base image. It has glibc and libstdc++, and npm for the first stage.
# Where npm needs its own settings: --secret id=npmrc,src=$HOME/.npmrc (and --secret id=ca,src=FILE if they say cafile=/run/secrets/ca).
ARG BASE

# node:24-bookworm-slim of 2026-10-06, with Node.js 24.21.0. Only npm of it is used.
FROM ${BASE:-docker.io/library/node:24-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY tools/node/package.json tools/node/
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=secret,id=ca,target=/run/secrets/ca \
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.ts scripts/
COPY src src
# What only an editor or a debugger reads is two thirds of the dependencies' files.
RUN npm run build \
 && mkdir -p /image/app /image/usr/local/bin \
 && cp node_modules/.bin/node /image/usr/local/bin/ \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error \
 && find node_modules dist -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete \
 && mv dist node_modules package.json /image/app/
COPY LICENSE /image/app/

# distroless/cc-debian12:nonroot of 2026-10-08.
FROM ${BASE:-gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f}
ARG VERSION=unknown
ARG INPUTS=unknown
LABEL org.opencontainers.image.title="proreus" \
      org.opencontainers.image.description="A Kubernetes operator server: admission webhooks, controllers and their certificates in one process." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      proreus.inputs="${INPUTS}"
COPY --from=build /image /
# Nothing is written: the root file system may be read-only, so there is no place for a compile cache either.
# 131072 is glibc's initial threshold. Without the variable, glibc raises it, and then keeps 10 MiB in which V8 has compiled WebAssembly.
ENV NODE_ENV=production \
    NODE_DISABLE_COMPILE_CACHE=1 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    HOME=/home/nonroot
WORKDIR /app
EXPOSE 9443 8443 8081
USER 65532:65532
# Half of the container's memory limit for the JavaScript heap: V8's own choice is 256 MB, however small the container is.
ENTRYPOINT ["/usr/local/bin/node", "--max-old-space-size-percentage=50", "/app/dist/cli/bin.js"]
CMD ["run"]
