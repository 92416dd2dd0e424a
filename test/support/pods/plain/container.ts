/** Containers for tests of the driver `plain`. */
import { text } from 'node:stream/consumers'
import type { ContainerOptions, ProcessStreams } from '../../../../src/devcluster/pods/driver.ts'

export const environment = { PATH: process.env['PATH'] ?? '' }

/**
 * Returns the options of a container whose environment has only the variable PATH. `options` contains additional options, and options that
 * replace the defaults.
 */
export function container(command: readonly string[], options: Partial<ContainerOptions> = {}): ContainerOptions {
  return { command, environment, isRootReadOnly: false, mounts: [], tty: false, stdin: false, ...options }
}

/** Returns the options of a container that runs a shell script. */
export function shell(script: string, options: Partial<ContainerOptions> = {}): ContainerOptions {
  return container(['sh', '-c', script], options)
}

export interface Output {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/** Resolves with the output and the exit code of a process when the process has ended. */
export async function outputOf({ stdout, stderr, exited }: ProcessStreams): Promise<Output> {
  const [out, errors, exitCode] = await Promise.all([text(stdout), stderr === undefined ? '' : text(stderr), exited])
  return { stdout: out, stderr: errors, exitCode }
}

/** Resolves with the first `count` lines of stdout. Rejects if the output has fewer lines. All later lines are read and ignored. */
export function firstLines({ stdout }: ProcessStreams, count: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let received = ''
    stdout.on('data', (chunk: Buffer) => {
      received += String(chunk)
      const lines = received.split(/\r?\n/)
      if (lines.length > count) resolve(lines.slice(0, count))
    })
    stdout.on('close', () => reject(new Error(`the output has ended: ${received}`)))
  })
}
