/** `ContainerAccess`: the interface by which the API server reaches the containers of Pods, for logs, exec, attach and port-forward. */
import type { Duplex, Readable, Writable } from 'node:stream'

/** A Pod and one of its containers. */
export interface ContainerTarget {
  readonly pod: string
  readonly uid: string
  readonly container: string
}

/** The query parameters of a request for a log (k8s.io/api/core/v1: PodLogOptions). */
export interface LogOptions {
  readonly follow: boolean
  /** True if the client requests the log of the previous run of the container (`kubectl logs --previous`). */
  readonly previous: boolean
  readonly timestamps: boolean
  readonly tailLines?: number
  readonly limitBytes?: number
  /** A time in milliseconds since 1970. Lines that were written before this time are omitted. */
  readonly since?: number
  /** The stream whose lines are returned. Default: both streams. */
  readonly stream?: 'Stdout' | 'Stderr'
}

export interface ExecRequest {
  readonly command: readonly string[]
  readonly tty: boolean
  readonly stdin: boolean
}

/**
 * A process in a container, with the streams that connect a client with the process. `close` is called when the client has disconnected.
 */
export interface ContainerSession {
  readonly stdin?: Writable
  readonly stdout: Readable
  /** Absent for a process with a terminal. */
  readonly stderr?: Readable
  resize(columns: number, rows: number): void
  /** Resolves with the exit code. Never rejects. */
  readonly exited: Promise<number>
  /** Ends a process that was started by `exec`. After `attach`, only the client's streams end. */
  close(): void
}

/**
 * The functions with which the API server reaches containers. If a function fails, it rejects with a StatusError that names the problem,
 * for example that the container does not run.
 */
export interface ContainerAccess {
  /** Resolves with the lines of the log as text. With `follow`, the stream ends when the container ends. */
  log(target: ContainerTarget, options: LogOptions, signal: AbortSignal): Promise<Readable>
  exec(target: ContainerTarget, request: ExecRequest): Promise<ContainerSession>
  attach(target: ContainerTarget, request: Omit<ExecRequest, 'command'>): Promise<ContainerSession>
  /** Connects to a TCP port of the Pod. */
  connect(target: Omit<ContainerTarget, 'container'>, port: number): Promise<Duplex>
}
