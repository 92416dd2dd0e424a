/** Runs programs of this machine. They make the namespaces, networks and file systems of containers. */
import type { ChildProcess, StdioOptions } from 'node:child_process'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { messageOf } from '../../../api/errors.ts'

/** The folders of system programs. They come before the folders in PATH, which may contain other programs with the same names. */
const systemFolders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** The environment of the programs. PATH is the only variable that comes from the environment of Proreus. */
export const programEnvironment: Readonly<Record<string, string>> = {
  PATH: [...systemFolders, ...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')].join(delimiter),
  LC_ALL: 'C',
  SHELL: '/bin/sh',
}

/** Returns the path of a program, or undefined when this machine does not have it. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of programEnvironment.PATH?.split(delimiter) ?? []) {
    const path = join(folder, name)
    const isProgram = await Promise.all([access(path, constants.X_OK), stat(path)]).then(
      ([, found]) => found.isFile(),
      () => false,
    )
    if (isProgram) return path
  }
  return undefined
}

/** The error for a program that has failed or could not be started. If a failed program has written to stderr, the message is that text. */
export class ProgramError extends Error {}

/** The largest output in bytes that `runProgram` accepts. The longest output of the programs is a mount table. */
const outputBytes = 16 * 1024 * 1024

/**
 * Runs a program until it ends, and resolves with its stdout. No shell reads the arguments.
 *
 * @throws {ProgramError} when the program is missing or its exit code is not 0.
 */
export function runProgram([program = '', ...parameters]: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, parameters, { env: programEnvironment, maxBuffer: outputBytes }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else if (stderr.trim() === '') reject(new ProgramError(`${program} has failed`, { cause: error }))
      else reject(new ProgramError(stderr.trim()))
    })
  })
}

/**
 * Starts a program, and does not wait for its end. The program gets a separate session, so that Ctrl-C in the terminal of Proreus does not
 * reach it.
 *
 * @throws {ProgramError} when the program could not be started, for example because Proreus has too many open files.
 */
export async function startProgram(command: readonly string[], stdio: StdioOptions, environment = {}): Promise<ChildProcess> {
  const [program = '', ...parameters] = command
  try {
    const child = spawn(program, parameters, { env: { ...programEnvironment, ...environment }, stdio, detached: true, cwd: '/' })
    // If the event `error` comes first, `once` rejects. `child` may then have no streams.
    await once(child, 'spawn')
    // After the start, an event `error` means that a signal or a message could not be sent. Such events are ignored.
    child.on('error', () => undefined)
    return child
  } catch (error) {
    throw new ProgramError(`${program} could not be started: ${messageOf(error)}`, { cause: error })
  }
}
