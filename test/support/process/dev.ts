/** Starts `proreus dev` for one test file, with kubectl as its client. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { kubectlFor, startProreus, type Finished, type Running } from './process.ts'
import { until } from '../../../src/testing/until.ts'

export interface Dev {
  readonly running: Running
  readonly kubeconfig: string
  readonly directory: string
  /** Runs kubectl. `args` is split at blanks, except within single quotes. */
  readonly kubectl: (args: string, input?: string) => Promise<Finished>
  /** Runs kubectl and returns its standard output. Throws when the command fails. */
  readonly ok: (args: string, input?: string) => Promise<string>
}

/**
 * Starts `proreus dev` on a free port. The working directory is `directory`, by default a new folder. `proreus dev` is stopped at the end
 * of the test.
 */
export async function startDev(t: Test, operators = 'all', flags: readonly string[] = [], directory = t.testdir()): Promise<Dev> {
  const running = startProreus(['dev', '--port', '0', '--operators', operators, ...flags], { cwd: directory })
  t.teardown(() => running.stop('SIGTERM'))
  const kubeconfig = join(directory, '.proreus/kubeconfig')
  await until('proreus dev is ready', () => {
    if (running.child.exitCode !== null) throw new Error(`it ended with ${running.child.exitCode}: ${running.output()}`)
    return existsSync(kubeconfig)
  })
  const { run: kubectl } = kubectlFor(kubeconfig, join(directory, 'home'))
  return {
    running,
    kubeconfig,
    directory,
    kubectl,
    async ok(command, input) {
      const { code, stdout, stderr } = await kubectl(command, input)
      if (code !== 0) throw new Error(`kubectl ${command} ended with ${code}: ${stderr}${stdout}`)
      return stdout
    },
  }
}
