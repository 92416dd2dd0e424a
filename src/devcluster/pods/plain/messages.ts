/** The messages between the driver and its supervisor, which starts the processes. */
import type { TerminalSize } from '../driver.ts'

/** A program, as execve(2) needs it. */
export interface Program {
  readonly file: string
  /** The arguments; the first one is the name of the program. */
  readonly args: readonly string[]
  /** The environment variables. A list, because a name can be `__proto__`. */
  readonly environment: readonly (readonly [name: string, value: string])[]
}

/** The paths of named pipes. */
export interface PipePaths {
  readonly stdin?: string
  readonly stdout: string
  /** Absent for a terminal. */
  readonly stderr?: string
}

/** Starts a process. The supervisor answers with `started` or `failed`. */
export interface StartMessage {
  readonly type: 'start'
  /** The number of the process, unique for this supervisor. */
  readonly id: number
  /** The number of the first process of the container. Absent for the first process itself. */
  readonly container?: number
  readonly program: Program
  readonly folder: string
  readonly pipes: PipePaths
  readonly tty: boolean
}

/** The messages of the driver. */
export type DriverMessage =
  | StartMessage
  | { readonly type: 'signal'; readonly id: number; readonly name: NodeJS.Signals }
  /** Kills a process and its descendants. For the first process of a container, all processes of the container. */
  | { readonly type: 'kill'; readonly id: number }
  | { readonly type: 'resize'; readonly id: number; readonly size: TerminalSize }

/** The messages of the supervisor. */
export type SupervisorMessage =
  /** The processes of an earlier driver have ended. */
  | { readonly type: 'ready' }
  /** The supervisor cannot work. */
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'started'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly message: string; readonly code?: string }
  /** The process has ended. After the first process of a container, all processes of the container have ended. */
  | { readonly type: 'exited'; readonly id: number; readonly exitCode: number }
