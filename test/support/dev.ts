/** A `proreus dev` of its own for a test file, and kubectl talking to it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { kubectlFor, startProreus, until, type Finished, type Running } from './process.ts'

export interface Dev {
  readonly running: Running
  readonly kubeconfig: string
  readonly directory: string
  /** Runs kubectl; the arguments are split at blanks, single quotes keep a part together. */
  readonly kubectl: (args: string, input?: string) => Promise<Finished>
  /** Runs kubectl, which must succeed, and gives what it printed. */
  readonly ok: (args: string, input?: string) => Promise<string>
}

/** Starts `proreus dev` on any free port in a folder of its own; it ends with the test. */
export async function startDev(t: Test, operators = 'all'): Promise<Dev> {
  const directory = t.testdir()
  const running = startProreus(['dev', '--port', '0', '--operators', operators], { cwd: directory })
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
