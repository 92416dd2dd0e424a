/**
 * `ProcessContainers`: a ContainerAccess for tests of the API server's streams. The processes of its containers are child processes of the
 * test, without isolation.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { failure } from '../../../src/api/status.ts'
import { StatusError, badRequest } from '../../../src/devcluster/apimachinery/status-error.ts'
import type {
  ContainerAccess,
  ContainerSession,
  ContainerTarget,
  ExecRequest,
  LogOptions,
} from '../../../src/devcluster/rest/container-access.ts'

/** A session that records the calls of its methods. */
export interface ObservedSession {
  readonly target: ContainerTarget
  readonly request: Partial<ExecRequest>
  readonly child?: ChildProcess
  readonly sizes: string[]
  isClosed: boolean
}

export interface LogLine {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly stream: 'Stdout' | 'Stderr'
  readonly text: string
}

export class ProcessContainers implements ContainerAccess {
  readonly sessions: ObservedSession[] = []
  /** The lines in the logs of the containers. `previousLines` are the lines of their previous runs. */
  readonly lines: LogLine[] = []
  readonly previousLines: LogLine[] = []
  /** The streams of the clients that follow a log. The test writes to these streams. */
  readonly followers: PassThrough[] = []
  readonly logRequests: { readonly target: ContainerTarget; readonly options: LogOptions; readonly signal: AbortSignal }[] = []
  /** Maps each open port of a Pod to a port of this machine. Ports without an entry are closed. */
  readonly ports = new Map<number, number>()
  /** Returns the process to which clients attach. */
  attached: () => Pick<ContainerSession, 'stdin' | 'stdout' | 'stderr' | 'exited'> = () => {
    throw badRequest('container "main" in pod "p" is waiting to start: ContainerCreating')
  }

  /** Ends all processes. */
  close(): void {
    for (const { child } of this.sessions) child?.kill('SIGKILL')
    for (const follower of this.followers) follower.destroy()
  }

  async log(target: ContainerTarget, options: LogOptions, signal: AbortSignal): Promise<Readable> {
    this.logRequests.push({ target, options, signal })
    const { tailLines, limitBytes, since = 0, stream, timestamps } = options
    const lines = (options.previous ? this.previousLines : this.lines)
      .filter((line) => line.at >= since && (stream === undefined || line.stream === stream))
      .slice(tailLines === undefined ? 0 : -tailLines || Number.POSITIVE_INFINITY)
    if (options.previous && lines.length === 0)
      throw badRequest(`previous terminated container "${target.container}" in pod "${target.pod}" not found`)
    const text = Buffer.from(lines.map((line) => `${timestamps ? `${new Date(line.at).toISOString()} ` : ''}${line.text}\n`).join(''))
    if (!options.follow) return Readable.from([text.subarray(0, limitBytes ?? text.length)], { objectMode: false })
    const follower = new PassThrough({ signal })
    follower.on('error', () => undefined)
    follower.write(text)
    this.followers.push(follower)
    return follower
  }

  async exec(target: ContainerTarget, request: ExecRequest): Promise<ContainerSession> {
    const [program = '', ...args] = request.command
    const child = request.tty
      ? spawn('script', ['-qefc', request.command.map(quoted).join(' '), '/dev/null'], { stdio: 'pipe' })
      : spawn(program, args, { stdio: [request.stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'] })
    return this.#session(target, request, child)
  }

  async #session(target: ContainerTarget, request: ExecRequest, child: ChildProcess): Promise<ContainerSession> {
    try {
      await once(child, 'spawn')
    } catch (error) {
      const text = `error executing command in container: exec: "${request.command[0]}": executable file not found in $PATH`
      throw new StatusError(failure(500, 'InternalError', `Internal error occurred: ${text}`, { causes: [{ message: String(error) }] }))
    }
    const observed: ObservedSession = { target, request, child, sizes: [], isClosed: false }
    this.sessions.push(observed)
    const exited = once(child, 'exit').then(([code]) => (code as number | null) ?? 137)
    return {
      ...(request.stdin && child.stdin !== null ? { stdin: child.stdin } : {}),
      stdout: child.stdout!,
      ...(request.tty || child.stderr === null ? {} : { stderr: child.stderr }),
      resize: (columns, rows) => observed.sizes.push(`${columns}x${rows}`),
      exited,
      close() {
        observed.isClosed = true
        child.kill('SIGKILL')
      },
    }
  }

  async attach(target: ContainerTarget, request: Omit<ExecRequest, 'command'>): Promise<ContainerSession> {
    const process = this.attached()
    const observed: ObservedSession = { target, request, sizes: [], isClosed: false }
    this.sessions.push(observed)
    return {
      ...process,
      resize: (columns, rows) => observed.sizes.push(`${columns}x${rows}`),
      close: () => (observed.isClosed = true),
    }
  }

  async connect(_target: Omit<ContainerTarget, 'container'>, port: number) {
    const real = this.ports.get(port)
    if (real === undefined) throw new StatusError(failure(500, 'InternalError', `dial tcp 127.0.0.1:${port}: connect: connection refused`))
    const socket = connect({ host: '127.0.0.1', port: real, allowHalfOpen: true })
    await once(socket, 'connect')
    return socket
  }
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
