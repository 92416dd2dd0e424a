/** The streams of an exec or an attach over SPDY (k8s.io/cri-streaming/pkg/streaming/remotecommand: createHTTPStreamStreams). */
import { finished } from 'node:stream/promises'
import { timedOut, untilAborted, within } from '../../../runtime/waiting.ts'
import type { RemoteStreams, StreamRequest } from './remote-streams.ts'
import { statusText } from './remote-streams.ts'
import { closeSpdy, serveSpdy, switchToSpdy } from './spdy-server.ts'
import type { SpdyStream } from './spdy/stream.ts'

const versions = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'] as const
const streamTypes = ['error', 'stdin', 'stdout', 'stderr', 'resize'] as const
type StreamType = (typeof streamTypes)[number]

/** Time limit in milliseconds for the client to open its streams (DefaultStreamCreationTimeout). */
const creationMs = 30_000

/**
 * Responds to the upgrade, waits until the client has opened all streams, and returns the streams. If the client does not open all streams
 * in time, the function closes the connection and returns undefined.
 *
 * @throws {StatusError} 403 when the client supports none of the protocol versions
 */
export async function spdyStreams({ exchange, upgrade, options, clock, logger }: StreamRequest): Promise<RemoteStreams | undefined> {
  const { socket } = upgrade
  const { signal } = exchange
  const version = switchToSpdy(exchange, upgrade, versions)
  const hasResize = options.tty && version !== 'v2.channel.k8s.io' && version !== 'channel.k8s.io'
  const wanted: Readonly<Record<StreamType, boolean>> = { ...options, error: true, resize: hasResize }
  const expected = streamTypes.filter((type) => wanted[type])
  const streams = new Map<StreamType, SpdyStream>()
  const { promise: complete, resolve } = Promise.withResolvers<void>()
  const onStream = (stream: SpdyStream): boolean => {
    const type = streamTypes.find((known) => known === stream.headers.get('streamtype'))
    if (type === undefined || streams.has(type)) return false
    streams.set(type, stream)
    // Data that a client sends on a stream for output is dropped.
    if (type !== 'stdin' && type !== 'resize') stream.resume()
    if (expected.every((name) => streams.has(name))) resolve()
    return true
  }
  const connection = serveSpdy(socket, { maxStreams: streamTypes.length, onStream }, { clock, logger, signal })
  const outcome = await untilAborted(within(clock, creationMs, complete), signal, () => undefined)
  if (outcome === timedOut) {
    await closeSpdy(connection, socket, clock)
    return undefined
  }
  const error = streams.get('error')!
  const ofType = (type: StreamType): SpdyStream | undefined => (wanted[type] ? streams.get(type) : undefined)
  const [stdin, stdout, stderr, resize] = [ofType('stdin'), ofType('stdout'), ofType('stderr'), ofType('resize')]
  return {
    ...(stdin && { stdin }),
    ...(stdout && { stdout }),
    ...(stderr && { stderr }),
    ...(resize && { resize }),
    async finish(result) {
      for (const output of [stdout, stderr]) if (output?.writable === true) output.end()
      error.end(statusText(result, version === 'v4.channel.k8s.io'))
      await finished(error, { readable: false }).catch(() => undefined)
      await closeSpdy(connection, socket, clock)
    },
  }
}
