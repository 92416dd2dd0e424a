/** `Link`: a TCP connection through the proxy. The link can delay its data, hold back its data, and reset the connection. */
import type { Socket } from 'node:net'
import type { Timer } from '../../runtime/clock.ts'
import { systemClock } from '../../runtime/clock.ts'

/** Delays in milliseconds. */
export interface Latency {
  readonly toServer: number
  readonly toClient: number
}

export type Direction = keyof Latency

/**
 * Maximum number of bytes that wait in one direction. At this number, the link stops reading, like a real connection whose buffers are
 * full.
 */
const maxHeldBytes = 1024 * 1024

/** A connection of a client to the proxy, together with the proxy's connection to the server. */
export class Link {
  readonly number: number
  readonly #sockets: readonly [client: Socket, server: Socket]
  readonly #lanes: Readonly<Record<Direction, Lane>>
  /**
   * True when one of the two sockets has failed. The link then resets both sockets. While `hold` holds back the data of a direction, the
   * link delays the reset.
   */
  #broken = false

  constructor(
    number: number,
    sockets: readonly [client: Socket, server: Socket],
    { latency, onClose }: { readonly latency: () => Latency; readonly onClose: () => void },
  ) {
    const [client, server] = sockets
    this.number = number
    this.#sockets = sockets
    this.#lanes = {
      toServer: new Lane(client, server, () => latency().toServer),
      toClient: new Lane(server, client, () => latency().toClient),
    }
    let open = this.#sockets.length
    for (const socket of this.#sockets) {
      socket.setNoDelay(true)
      socket.on('error', () => {
        this.#broken = true
        this.#tellBroken()
      })
      socket.once('close', () => {
        open -= 1
        if (open === 0) onClose()
      })
    }
  }

  /** Resets the connections to the client and to the server. */
  cut(): void {
    for (const lane of Object.values(this.#lanes)) lane.close()
    for (const socket of this.#sockets) reset(socket)
  }

  /** Holds back the data of the given directions. Forwards the data of the other directions, including data that was held back earlier. */
  hold(directions: ReadonlySet<Direction>): void {
    for (const [direction, lane] of Object.entries(this.#lanes)) lane.hold(directions.has(direction as Direction))
    this.#tellBroken()
  }

  #tellBroken(): void {
    if (this.#broken && Object.values(this.#lanes).every((lane) => !lane.held)) this.cut()
  }
}

/**
 * Resets a socket. If the socket has unsent data, or if `end()` was called on the socket, the function destroys the socket instead. For
 * such a socket, `resetAndDestroy` can leave a handle open because of a bug in Node.js. The open handle would keep the process alive.
 */
function reset(socket: Socket): void {
  if (socket.writableEnded || socket.writableLength > 0) socket.destroy()
  else socket.resetAndDestroy()
}

/**
 * One direction of a link. Chunks of data are delivered in order. The delay of a chunk is the latency at the time when the chunk arrived.
 */
class Lane {
  readonly #from: Socket
  readonly #to: Socket
  readonly #latency: () => number
  /** The chunks that must be delivered. An entry whose `bytes` are undefined is the end of the stream. */
  readonly #queue: { readonly bytes: Buffer | undefined; readonly due: number }[] = []
  #heldBytes = 0
  #held = false
  #timer: Timer | undefined

  constructor(from: Socket, to: Socket, latency: () => number) {
    this.#from = from
    this.#to = to
    this.#latency = latency
    from.on('data', (bytes) => this.#take(bytes))
    from.once('end', () => this.#take(undefined))
    to.on('drain', () => this.#move())
  }

  get held(): boolean {
    return this.#held
  }

  hold(held: boolean): void {
    this.#held = held
    this.#move()
  }

  close(): void {
    this.#queue.length = 0
    this.#timer?.cancel()
  }

  #take(bytes: Buffer | undefined): void {
    this.#queue.push({ bytes, due: systemClock.monotonicNow() + this.#latency() })
    this.#heldBytes += bytes?.length ?? 0
    this.#move()
  }

  #move(): void {
    this.#timer?.cancel()
    while (!this.#held && !this.#to.writableNeedDrain) {
      const [first] = this.#queue
      if (first === undefined) break
      const left = first.due - systemClock.monotonicNow()
      if (left > 0) {
        this.#timer = systemClock.after(left, () => this.#move())
        break
      }
      this.#queue.shift()
      this.#heldBytes -= first.bytes?.length ?? 0
      if (first.bytes === undefined) this.#to.end()
      else this.#to.write(first.bytes)
    }
    if (this.#held || this.#heldBytes >= maxHeldBytes) this.#from.pause()
    else this.#from.resume()
  }
}
