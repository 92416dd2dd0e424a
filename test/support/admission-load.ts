/** A steady load of AdmissionReviews, sent as an API server behind a Service sends them: over connections that are kept and used again. */
import { Client } from 'undici'

export interface LoadOptions {
  /** `https://host:port` of the webhook server. */
  readonly url: string
  /** What the server's certificate must be signed by, PEM. */
  readonly ca: string
  /** Taken in turns. */
  readonly paths: readonly string[]
  /** The body of one request. */
  readonly body: (uid: string) => string
  readonly perSecond: number
  /** So many are sent at once in the beginning, which leaves as many connections. */
  readonly burst: number
  /** The load ends by itself after so many requests. */
  readonly most: number
}

export interface LoadReport {
  /** Requests that got their own answer with code 200. */
  readonly answered: number
  /** What became of the others. */
  readonly failures: readonly string[]
  /** Requests for which there was neither a connection nor the right to open one: another endpoint would have got them. */
  readonly elsewhere: number
  readonly opened: number
  /** How many answers ended their connection. */
  readonly lastOnes: number
  /** Milliseconds, ascending. */
  readonly latencies: readonly number[]
}

interface Connection {
  readonly client: Client
  usable: boolean
}

export class AdmissionLoad {
  readonly #options: LoadOptions
  readonly #started = performance.now()
  readonly #timer: NodeJS.Timeout
  readonly #pending = new Set<Promise<void>>()
  /** The connection that was used last is used next, as Go's http.Transport does. */
  readonly #idle: Connection[] = []
  readonly #failures: string[] = []
  readonly #latencies: number[] = []
  #due = 0
  #elsewhere = 0
  #opened = 0
  #lastOnes = 0
  #mayOpen = true

  constructor(options: LoadOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#tick(), 5)
  }

  /** Requests that were answered until now. */
  get answered(): number {
    return this.#latencies.length
  }

  /** The endpoint is withdrawn: connections that are open are used on, new ones go elsewhere. */
  withdraw(): void {
    this.#mayOpen = false
  }

  /** Waits for the answers to what has been sent, and tells how it went. */
  async stop(): Promise<LoadReport> {
    clearInterval(this.#timer)
    await Promise.all(this.#pending)
    await Promise.all(this.#idle.map(({ client }) => client.destroy()))
    return {
      answered: this.answered,
      failures: this.#failures,
      elsewhere: this.#elsewhere,
      opened: this.#opened,
      lastOnes: this.#lastOnes,
      latencies: this.#latencies.toSorted((a, b) => a - b),
    }
  }

  /** Sends what is due by now, whether or not earlier requests have been answered: a slow server must not slow the load down. */
  #tick(): void {
    const { perSecond, most, burst } = this.#options
    const due = Math.min(most, burst + Math.floor(((performance.now() - this.#started) * perSecond) / 1000))
    for (; this.#due < due; this.#due += 1) {
      const sent = this.#send(this.#due).finally(() => this.#pending.delete(sent))
      this.#pending.add(sent)
    }
  }

  async #send(index: number): Promise<void> {
    const { paths } = this.#options
    const uid = `uid-${index}`
    const connection = this.#take()
    if (connection === undefined) {
      this.#elsewhere += 1
      return
    }
    const start = performance.now()
    try {
      const { statusCode, headers, body } = await connection.client.request({
        method: 'POST',
        path: paths[index % paths.length]!,
        headers: { 'content-type': 'application/json' },
        body: this.#options.body(uid),
      })
      const { response } = (await body.json()) as { response?: { uid?: string; allowed?: boolean } }
      if (statusCode !== 200 || response?.uid !== uid || response.allowed !== true)
        throw new Error(`${statusCode} ${JSON.stringify(response)}`)
      this.#latencies.push(performance.now() - start)
      if (headers.connection === 'close') {
        this.#lastOnes += 1
        connection.usable = false
      }
    } catch (error) {
      this.#failures.push(`${uid} after ${Math.round(performance.now() - start)} ms: ${String(error)}`)
      connection.usable = false
    }
    if (connection.usable) this.#idle.push(connection)
    else await connection.client.destroy()
  }

  #take(): Connection | undefined {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.usable) return connection
    }
    return this.#mayOpen ? this.#open() : undefined
  }

  /** A connection that carries one request at a time and is never opened again by itself. */
  #open(): Connection {
    this.#opened += 1
    const { url, ca } = this.#options
    const connection = { client: new Client(url, { connect: { ca }, pipelining: 1, keepAliveTimeout: 90_000 }), usable: true }
    connection.client.on('disconnect', () => (connection.usable = false))
    return connection
  }
}
