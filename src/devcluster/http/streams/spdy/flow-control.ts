/**
 * Flow control of SPDY (SPDY Protocol Draft 3.1, section 2.6.8):
 *
 * - `SendWindows`: the numbers of bytes that the client permits the server to send.
 * - `ReceivedBytes`: the number of bytes that the server has received since its last WINDOW_UPDATE frame. With the next frame, the server
 *   permits the client to send this number of bytes again.
 *
 * The windows apply only after the client has sent a frame of flow control. The Go clients of Kubernetes send no WINDOW_UPDATE frames
 * (github.com/moby/spdystream). For such a client, the server would otherwise send 64 KiB and then wait without end.
 */
import { ProtocolError } from './protocol-error.ts'

const defaultWindow = 64 * 1024
const maxWindow = 2 ** 31 - 1
/** The stream id of WINDOW_UPDATE frames for the whole connection. */
export const connectionId = 0

/** Number of received bytes after which the server sends a WINDOW_UPDATE frame: half of the initial window. */
const updateBytes = defaultWindow / 2

/**
 * Counts the bytes that the server has received for a stream or a connection. The count restarts with each WINDOW_UPDATE frame that the
 * server sends.
 */
export class ReceivedBytes {
  #count = 0

  /** Adds received bytes. Returns the number of bytes for a WINDOW_UPDATE frame; 0 when no frame is necessary. */
  add(length: number): number {
    this.#count += length
    if (this.#count < updateBytes) return 0
    const due = this.#count
    this.#count = 0
    return due
  }
}

export class SendWindows {
  #isInForce = false
  #initial = defaultWindow
  readonly #left = new Map<number, number>([[connectionId, defaultWindow]])
  #waiting: (() => void)[] = []

  open(streamId: number): void {
    this.#left.set(streamId, this.#initial)
  }

  close(streamId: number): void {
    this.#left.delete(streamId)
    this.#wake()
  }

  /**
   * Waits until the server may send bytes on the stream. Resolves with the number of bytes to send. The number is at most `wanted`, and 0
   * for a closed stream.
   */
  async take(streamId: number, wanted: number): Promise<number> {
    for (;;) {
      const ofStream = this.#left.get(streamId)
      const ofConnection = this.#left.get(connectionId)
      if (ofStream === undefined || ofConnection === undefined) return 0
      const taken = this.#isInForce ? Math.min(wanted, ofStream, ofConnection) : wanted
      if (taken > 0) {
        this.#left.set(streamId, ofStream - taken)
        this.#left.set(connectionId, ofConnection - taken)
        return taken
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Applies a WINDOW_UPDATE frame. The stream of the frame may already be closed. */
  grow(streamId: number, delta: number): void {
    this.#isInForce = true
    const left = this.#left.get(streamId)
    if (left === undefined) return
    if (left + delta > maxWindow) throw new ProtocolError('a window of more than 2^31 - 1 bytes')
    this.#left.set(streamId, left + delta)
    this.#wake()
  }

  /** Applies SETTINGS_INITIAL_WINDOW_SIZE. This setting also changes the windows of open streams. */
  setInitial(size: number): void {
    this.#isInForce = true
    if (size > maxWindow) throw new ProtocolError('an initial window of more than 2^31 - 1 bytes')
    for (const [streamId, left] of this.#left) if (streamId !== connectionId) this.#left.set(streamId, left + size - this.#initial)
    this.#initial = size
    this.#wake()
  }

  /** Called at the end of the connection. Ends all waits for a window. */
  end(): void {
    this.#left.clear()
    this.#wake()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
