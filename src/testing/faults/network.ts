/** `FaultyNetwork`: accepts TCP connections, forwards them to a port of this machine, and injects faults into them. */
import type { Server } from 'node:net'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Direction, Latency } from './link.ts'
import { Link } from './link.ts'
import { listen } from '../../runtime/listen.ts'

/** A fault. It lasts until its `end()` or the proxy's `heal()` is called. */
export interface Fault {
  /** Ends this fault. Further calls have no effect. */
  end(): void
}

/** An open TCP connection through the proxy. */
export interface ProxiedConnection {
  /** The number of the connection. Connections are numbered in the order in which they are opened. */
  readonly number: number
}

export interface FaultScope {
  /** The connections that the fault affects. Default: all connections that are open when the fault begins. */
  readonly only?: readonly ProxiedConnection[]
  /** True if the fault also affects connections that are opened while the fault is active. Default false. */
  readonly alsoNew?: boolean
}

type Effect =
  | { readonly kind: 'delay'; readonly latency: Latency }
  | { readonly kind: 'cut' }
  | { readonly kind: 'hold'; readonly directions: readonly Direction[]; readonly links: Set<Link>; readonly alsoNew: boolean }

export class FaultyNetwork {
  readonly port: number
  readonly #server: Server
  readonly #links = new Set<Link>()
  readonly #effects = new Set<Effect>()
  #opened = 0
  #latency: Latency = { toServer: 0, toClient: 0 }

  private constructor(server: Server, target: number) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (client) => {
      if (this.#has('cut')) {
        client.on('error', () => undefined)
        client.resetAndDestroy()
        return
      }
      const link: Link = new Link((this.#opened += 1), [client, connect({ port: target, host: '127.0.0.1', allowHalfOpen: true })], {
        latency: () => this.#latency,
        onClose: () => {
          this.#links.delete(link)
          for (const effect of this.#effects) if (effect.kind === 'hold') effect.links.delete(link)
        },
      })
      this.#links.add(link)
      for (const effect of this.#effects) if (effect.kind === 'hold' && effect.alsoNew) effect.links.add(link)
      this.#holdAsAsked(link)
    })
  }

  /** Listens on a free port of the loopback interface, and forwards connections to the port `target`. */
  static async listen(target: number): Promise<FaultyNetwork> {
    const server = createServer({ allowHalfOpen: true })
    await listen(server, { host: '127.0.0.1', port: 0 })
    return new FaultyNetwork(server, target)
  }

  get links(): readonly Link[] {
    return [...this.#links]
  }

  delay(latency: Latency): Fault {
    return this.#start({ kind: 'delay', latency })
  }

  cut({ only = this.links, alsoNew = false }: FaultScope): Fault {
    const fault = alsoNew ? this.#start({ kind: 'cut' }) : { end: () => undefined }
    for (const link of this.#own(only)) link.cut()
    return fault
  }

  hold(directions: readonly Direction[], { only = this.links, alsoNew = false }: FaultScope): Fault {
    return this.#start({ kind: 'hold', directions, links: new Set(this.#own(only)), alsoNew })
  }

  heal(): void {
    this.#effects.clear()
    this.#apply()
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#effects.clear()
    for (const link of this.#links) link.cut()
    await closed
  }

  /** Returns those of the given connections that are still open. */
  #own(connections: readonly ProxiedConnection[]): Link[] {
    return this.links.filter((link) => connections.includes(link))
  }

  #start(effect: Effect): Fault {
    this.#effects.add(effect)
    this.#apply()
    return {
      end: () => {
        if (this.#effects.delete(effect)) this.#apply()
      },
    }
  }

  #has(kind: Effect['kind']): boolean {
    return [...this.#effects].some((effect) => effect.kind === kind)
  }

  #apply(): void {
    const delays = [...this.#effects].flatMap((effect) => (effect.kind === 'delay' ? [effect.latency] : []))
    const sum = (direction: Direction): number => delays.reduce((total, latency) => total + latency[direction], 0)
    this.#latency = { toServer: sum('toServer'), toClient: sum('toClient') }
    for (const link of this.#links) this.#holdAsAsked(link)
  }

  #holdAsAsked(link: Link): void {
    link.hold(new Set([...this.#effects].flatMap((effect) => (effect.kind === 'hold' && effect.links.has(link) ? effect.directions : []))))
  }
}
