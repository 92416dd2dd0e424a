/**
 * `ForwardedPairs`: port-forward over SPDY (k8s.io/cri-streaming/pkg/streaming/portforward: httpStreamHandler). For each forwarded connection,
 * the client opens a data stream and an error stream.
 */
import type { Timer } from '../../../runtime/clock.ts'
import { forwardPort } from './forward-port.ts'
import { portNumber } from './port-numbers.ts'
import type { StreamServices } from './stream-services.ts'
import type { SpdyStream } from './spdy/stream.ts'
import type { StoredPod } from './target-container.ts'

/** Time limit in milliseconds for the client to open the second stream of a pair (DefaultStreamCreationTimeout). */
const creationMs = 30_000

type StreamType = 'data' | 'error'

/** The first stream of a pair. */
interface Waiting {
  readonly type: StreamType
  readonly stream: SpdyStream
  readonly timer: Timer
}

export class ForwardedPairs {
  readonly #pod: StoredPod
  readonly #services: StreamServices
  readonly #waiting = new Map<string, Waiting>()

  constructor(pod: StoredPod, services: StreamServices) {
    this.#pod = pod
    this.#services = services
  }

  /** Adds a stream. Returns false if the stream is invalid, or if the pair already has a stream of the same type. */
  add(stream: SpdyStream): boolean {
    const type = stream.headers.get('streamtype')
    const port = portNumber(stream.headers.get('port') ?? '')
    if ((type !== 'data' && type !== 'error') || port === undefined) return false
    const id = requestId(stream, type)
    const first = this.#waiting.get(id)
    if (first?.type === type) return false
    if (first === undefined) {
      this.#wait(id, type, stream)
      return true
    }
    this.#remove(id)
    // The header `port` of the data stream determines the port (httpStreamHandler.portForward).
    if (type === 'data') void this.#forward(port, stream, first.stream)
    else void this.#forward(portNumber(first.stream.headers.get('port') ?? '') ?? port, first.stream, stream)
    return true
  }

  #wait(id: string, type: StreamType, stream: SpdyStream): void {
    const timer = this.#services.clock.after(creationMs, () => {
      this.#waiting.delete(id)
      if (type === 'error') stream.end(`request ${id}: timed out waiting for streams`)
      else stream.destroy()
    })
    this.#waiting.set(id, { type, stream, timer })
    stream.once('close', () => {
      if (this.#waiting.get(id)?.stream === stream) this.#remove(id)
    })
  }

  #remove(id: string): void {
    this.#waiting.get(id)?.timer.cancel()
    this.#waiting.delete(id)
  }

  async #forward(port: number, data: SpdyStream, error: SpdyStream): Promise<void> {
    // Data that a client sends on the error stream is dropped.
    error.resume()
    const { containers } = this.#services
    const failure = await forwardPort({ containers, pod: this.#pod, port }, { input: data, output: data, hasHalfClose: true })
    error.end(failure)
  }
}

/**
 * Returns the id of a pair. Old clients send no id. The id of the pair is then the stream id of the error stream
 * (httpStreamHandler.requestID). These clients open the error stream right before the data stream, so the stream id of the data stream is
 * higher by 2.
 */
function requestId({ id, headers }: SpdyStream, type: StreamType): string {
  const sent = headers.get('requestid') ?? ''
  return sent === '' ? String(type === 'error' ? id : id - 2) : sent
}
