/** The messages between the driver and its supervisor. The supervisor is the process that starts the processes of containers. */
import type { TerminalSize } from '../driver.ts'

/** A program with its arguments and environment variables, as execve(2) needs them. */
export interface Program {
  readonly file: string
  /** The arguments. The first argument is the name of the program. */
  readonly args: readonly string[]
  /** The environment variables. They are a list and not an object, because a variable can have the name `__proto__`. */
  readonly environment: readonly (readonly [name: string, value: string])[]
}

/** The paths of the named pipes for the standard streams of a process. */
export interface PipePaths {
  readonly stdin?: string
  readonly stdout: string
  /** Absent for a process with a terminal. */
  readonly stderr?: string
}

/** Starts a process. The supervisor responds with `started` or `failed`. */
export interface StartMessage {
  readonly type: 'start'
  /** The number that identifies the process in messages. Each process of a supervisor has a different number. */
  readonly id: number
  /**
   * The `id` of the first process of the container, if the new process joins an existing container. Absent if the new process is the first
   * process of a container.
   */
  readonly container?: number
  readonly program: Program
  readonly folder: string
  readonly pipes: PipePaths
  readonly tty: boolean
}

/** The messages that the driver sends to the supervisor. */
export type DriverMessage =
  | StartMessage
  | { readonly type: 'signal'; readonly id: number; readonly name: NodeJS.Signals }
  /** Kills a process and its descendants. If the process is the first process of a container, kills all processes of the container. */
  | { readonly type: 'kill'; readonly id: number }
  | { readonly type: 'resize'; readonly id: number; readonly size: TerminalSize }

/** The messages that the supervisor sends to the driver. */
export type SupervisorMessage =
  /** Sent when all processes of an earlier driver have ended, and the supervisor can start processes. */
  | { readonly type: 'ready' }
  /** Sent when the supervisor ends because of an error. */
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'started'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly message: string; readonly code?: string }
  /**
   * Sent when a process has ended. If the process was the first process of a container, all processes of the container have been killed.
   */
  | { readonly type: 'exited'; readonly id: number; readonly exitCode: number }
