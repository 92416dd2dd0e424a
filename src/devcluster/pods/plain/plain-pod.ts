/** `PlainPod`: a Pod whose containers are plain processes of this machine. */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { messageOf } from '../../../api/errors.ts'
import type { ContainerOptions, ContainerProcess, PodSandbox } from '../driver.ts'
import { ContainerStartError } from '../driver.ts'
import type { PlainPlace } from './plain-process.ts'
import { startPlainContainer } from './plain-process.ts'

const loopback = '127.0.0.1'

export class PlainPod implements PodSandbox {
  readonly address = loopback
  readonly #ended = Promise.withResolvers<void>()
  readonly #place: () => Promise<PlainPlace>
  /** The containers that are starting or running. */
  readonly #containers = new Set<Promise<ContainerProcess>>()
  #removal: Promise<void> | undefined

  /** @param place resolves with a running supervisor, and with a function that returns an unused path for the pipes of a process */
  constructor(place: () => Promise<PlainPlace>) {
    this.#place = place
  }

  /**
   * Resolves when `remove` has finished. The sandbox cannot end earlier, because it has no process or network of its own that could fail.
   */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  start(options: ContainerOptions): Promise<ContainerProcess> {
    if (this.#removal !== undefined) return Promise.reject(new ContainerStartError('the Pod has been removed'))
    const starting = this.#place().then((place) => startPlainContainer(place, options))
    this.#containers.add(starting)
    const forget = (): boolean => this.#containers.delete(starting)
    starting.then(({ exited }) => exited.then(forget), forget)
    return starting
  }

  /** Connects to a port of this machine. A process of the Pod is reachable when it listens on 127.0.0.1, or on all addresses. */
  async connect(port: number, host = loopback): Promise<Duplex> {
    try {
      // The caller may not yet have added a listener for the event `error`. Without a listener, the event would end this process.
      const socket = connect({ port, host }).on('error', () => undefined)
      await once(socket, 'connect')
      return socket
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw cause
      const reason = `${messageOf(cause)}: a Pod without a network of its own can be reached only where it listens on ${loopback} or on all addresses`
      throw Object.assign(new Error(reason, { cause }), { code: 'ECONNREFUSED' })
    }
  }

  remove(): Promise<void> {
    this.#removal ??= this.#end()
    return this.#removal
  }

  async #end(): Promise<void> {
    for (const result of await Promise.allSettled(this.#containers)) {
      if (result.status === 'fulfilled') result.value.kill()
    }
    await Promise.allSettled([...this.#containers].map(async (starting) => (await starting).exited))
    // If the supervisor was killed, the processes that it had started may still be running. `#place` then starts another supervisor, which
    // first ends these processes.
    await this.#place().catch(() => undefined)
    this.#ended.resolve()
  }
}
