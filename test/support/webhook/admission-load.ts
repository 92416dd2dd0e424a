/** A steady load of AdmissionReviews over keep-alive connections, as from an API server that calls a Service. */
import { Client } from 'undici'

export interface LoadOptions {
  /** `https://host:port` of the webhook server. */
  readonly url: string
  /** The CA of the server's certificate, PEM. */
  readonly ca: string
  /** The paths are used in turn. */
  readonly paths: readonly string[]
  /** Returns the body of one request. */
  readonly body: (uid: string) => string
  readonly perSecond: number
  /** The number of concurrent requests at the start, which opens as many connections. */
  readonly burst: number
  /** The load stops by itself after this number of requests. */
  readonly most: number
  /** The maximum number of unanswered requests: an API server, too, limits its requests in flight. */
  readonly inFlight: number
}

export interface LoadReport {
  /** Requests with a 200 response that has their uid. */
  readonly answered: number
  /** Descriptions of the failed requests. */
  readonly failures: readonly string[]
  /** Requests without a free connection after the endpoint was withdrawn, which another endpoint would have received. */
  readonly elsewhere: number
  readonly opened: number
  /** The number of responses that closed their connection. */
  readonly lastOnes: number
  /** `performance.now()` when the youngest of the answered requests was sent. */
  readonly lastSent: number
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
  /** Idle connections; the most recently used one is reused first, as in Go's http.Transport. */
  readonly #idle: Connection[] = []
  readonly #failures: string[] = []
  readonly #latencies: number[] = []
  #due = 0
  #elsewhere = 0
  #opened = 0
  #lastOnes = 0
  #lastSent = 0
  #mayOpen = true

  constructor(options: LoadOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#tick(), 5)
  }

  /** The number of successful requests so far. */
  get answered(): number {
    return this.#latencies.length
  }

  /** Withdraws the endpoint: open connections stay in use, new ones would reach another endpoint. */
  withdraw(): void {
    this.#mayOpen = false
  }

  /** Waits for the responses of all requests and returns the report. */
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
      lastSent: this.#lastSent,
      latencies: this.#latencies.toSorted((a, b) => a - b),
    }
  }

  /** Sends the requests that are due, without waiting for earlier ones until there are too many of them. */
  #tick(): void {
    const { perSecond, most, burst, inFlight } = this.#options
    const due = Math.min(most, burst + Math.floor(((performance.now() - this.#started) * perSecond) / 1000))
    for (; this.#due < due && this.#pending.size < inFlight; this.#due += 1) {
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
      this.#lastSent = Math.max(this.#lastSent, start)
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

  /** Opens a connection that carries one request at a time and does not reconnect. */
  #open(): Connection {
    this.#opened += 1
    const { url, ca } = this.#options
    const connection = { client: new Client(url, { connect: { ca }, pipelining: 1, keepAliveTimeout: 90_000 }), usable: true }
    connection.client.on('disconnect', () => (connection.usable = false))
    return connection
  }
}
