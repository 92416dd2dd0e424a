/** Sends AdmissionReviews at a constant rate on keep-alive connections, like an API server that calls webhooks through a Service. */
import { Client } from 'undici'

export interface LoadOptions {
  /** The URL of the webhook server, `https://HOST:PORT`. */
  readonly url: string
  /** The PEM of the CA of the server's certificate. */
  readonly ca: string
  /** The URL paths of the requests. They are used one after the other, repeatedly. */
  readonly paths: readonly string[]
  /** Returns the body of a request whose review has this uid. */
  readonly body: (uid: string) => string
  readonly perSecond: number
  /** The number of requests that are sent simultaneously at the start. Each of them opens a connection. */
  readonly burst: number
  /** The maximum total number of requests. */
  readonly most: number
  /** The maximum number of requests that wait for their response. An API server also limits the number of its requests in flight. */
  readonly inFlight: number
}

export interface LoadReport {
  /** The number of successful requests: the response has the status 200 and the uid of the request, and allows the request. */
  readonly answered: number
  /** A description of each failed request. */
  readonly failures: readonly string[]
  /**
   * The number of requests that were not sent, because the endpoint was withdrawn and no connection was idle. A Service would route these
   * requests to another endpoint.
   */
  readonly elsewhere: number
  readonly opened: number
  /** The number of successful responses with the header `Connection: close`. After such a response, the server closes the connection. */
  readonly lastOnes: number
  /** The value of `performance.now()` when the latest request with a successful response was sent. */
  readonly lastSent: number
  /** The latencies of the successful requests in milliseconds, in ascending order. */
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
  /** Idle connections. As in Go's http.Transport, the connection that was used last is used next. */
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

  /**
   * Withdraws the endpoint. Open connections are still used, but no connections are opened, because a Service would route new connections
   * to another endpoint.
   */
  withdraw(): void {
    this.#mayOpen = false
  }

  /** Stops sending, waits for the pending responses, and returns the report. */
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

  /**
   * Sends the requests that are due. At most `inFlight` requests are pending at the same time. The other due requests are sent at a later
   * tick.
   */
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

  /** Opens a connection. The connection carries one request at a time, and is not reopened after it was closed. */
  #open(): Connection {
    this.#opened += 1
    const { url, ca } = this.#options
    const connection = { client: new Client(url, { connect: { ca }, pipelining: 1, keepAliveTimeout: 90_000 }), usable: true }
    connection.client.on('disconnect', () => (connection.usable = false))
    return connection
  }
}
