# A small image that holds one static binary and nothing else:
#   docker build -t shardlint .
#   docker run --rm -v "$PWD:/work" shardlint check --schema sharding.js mongod.log
FROM rust:1-alpine AS build
RUN apk add --no-cache musl-dev gcc make
WORKDIR /source
COPY . .
RUN cargo build --profile dist --locked --bin shardlint \
 && cp target/dist/shardlint /shardlint

FROM scratch
COPY --from=build /shardlint /shardlint
COPY LICENSE-MIT LICENSE-APACHE /
WORKDIR /work
USER 65534:65534
ENTRYPOINT ["/shardlint"]
