/** Terminals for processes. Node.js cannot open a new terminal, so the program script(1) opens the terminal. */
import { execFile, spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { TerminalSize } from '../driver.ts'

/** The file descriptor by which `terminal-program.ts` receives the program of a container and sends a `TerminalReport`. */
export const controlDescriptor = 3

export interface TerminalReport {
  /** The pid of the process that becomes the program of the container. */
  readonly pid: number
  /** The path of the terminal, e.g. /dev/pts/1. */
  readonly path: string
}

const isMacOS = process.platform === 'darwin'

/**
 * Resolves with undefined when processes of this machine can have a terminal. Resolves with the reason when they cannot.
 *
 * @param environment the variable PATH of this environment contains the folders in which script(1) is looked up
 */
export async function terminalProblem(environment: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  const version = await promisify(execFile)('script', ['--version'], { env: environment }).then(
    ({ stdout }) => stdout,
    // script(1) of macOS can be used, although it rejects the option `--version`.
    (error: NodeJS.ErrnoException) => (isMacOS && error.code !== 'ENOENT' ? '' : undefined),
  )
  if (isMacOS ? version !== undefined : version?.includes('util-linux')) return undefined
  return 'tty: a terminal needs the program script of util-linux, which this machine does not have (on Debian: the package bsdutils)'
}

/**
 * Returns the command that starts `terminal-program.ts` with a terminal. The words and the environment of the command contain no data of
 * the container. `terminal-program.ts` receives the program of the container, with its arguments and environment, through
 * `controlDescriptor`.
 */
export function terminalCommand(): { readonly words: readonly [string, ...string[]]; readonly environment: Record<string, string> } {
  const program = fileURLToPath(new URL(`./terminal-program${extname(import.meta.url)}`, import.meta.url))
  const warnings = '--disable-warning=ExperimentalWarning'
  if (isMacOS) return { words: ['script', '-q', '/dev/null', process.execPath, warnings, program], environment: {} }
  return {
    words: ['script', '-qefc', `exec "$PROREUS_NODE" ${warnings} "$PROREUS_PROGRAM"`, '/dev/null'],
    environment: { SHELL: '/bin/sh', PROREUS_NODE: process.execPath, PROREUS_PROGRAM: program },
  }
}

/** The largest number of columns or rows (ioctl_tty(2): struct winsize). */
const maxSize = 0xffff

/** Sets the size of a terminal. Ignores an invalid size. Resolves when the size is set or could not be set. */
export function resizeTerminal(path: string, { columns, rows }: TerminalSize): Promise<void> {
  return new Promise((resolve) => {
    if (![columns, rows].every((size) => Number.isInteger(size) && size > 0 && size <= maxSize)) return resolve()
    let terminal: number | undefined
    try {
      // Without O_NOCTTY, the opened terminal could become the controlling terminal of this process.
      terminal = openSync(path, constants.O_RDWR | constants.O_NOCTTY)
      const stty = spawn('stty', ['cols', String(columns), 'rows', String(rows)], { stdio: [terminal, 'ignore', 'ignore'] })
      stty.on('error', () => resolve())
      stty.on('exit', () => resolve())
    } catch {
      // `openSync` throws if the terminal has been closed.
      resolve()
    } finally {
      if (terminal !== undefined) closeSync(terminal)
    }
  })
}
