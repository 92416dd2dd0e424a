/** An embedded API server of its own for a test file, and the real kubectl talking to it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { DevCluster, DevClusterOptions } from '../../src/devcluster/dev-cluster.ts'
import { startDevCluster } from '../../src/devcluster/dev-cluster.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { kubectlFor, until } from './process.ts'
import type { Finished, Running } from './process.ts'

/** A cluster on any free port that keeps nothing; it ends with the test. */
export async function startTestCluster(t: Test, options: Partial<DevClusterOptions> = {}): Promise<DevCluster> {
  const cluster = await startDevCluster({ port: 0, logger: silentLogger(), ...options })
  t.teardown(() => cluster.close())
  return cluster
}

export interface Kubectl {
  /** Runs kubectl; the arguments are split at blanks, single quotes keep a part together. */
  (args: string, input?: string): Promise<Finished>
  /** The same for a command that must succeed: gives what it printed. */
  ok(args: string, input?: string): Promise<string>
  /** Starts a command that goes on until it, or the test, is stopped. */
  start(args: string): Running
  /** Runs a command until what it prints satisfies `done`. */
  until(args: string, done: (stdout: string) => boolean): Promise<string>
}

/** kubectl as the cluster's administrator, with a home folder and a discovery cache of its own. */
export function kubectlOf(t: Test, cluster: DevCluster): Kubectl {
  const kubeconfig = join(t.testdir(), 'kubeconfig')
  writeFileSync(kubeconfig, cluster.kubeconfigYaml(), { mode: 0o600 })
  return kubectlAs(t, kubeconfig)
}

/** kubectl with this kubeconfig, with a home folder and a discovery cache of its own. */
export function kubectlAs(t: Test, kubeconfig: string): Kubectl {
  const { run, start } = kubectlFor(kubeconfig, join(t.testdirName, 'home'))
  const ok = async (args: string, input?: string): Promise<string> => {
    const { code, stdout, stderr } = await run(args, input)
    if (code !== 0) throw new Error(`kubectl ${args} ended with ${code}: ${stderr}`)
    return stdout
  }
  return Object.assign(run, {
    ok,
    start(args: string) {
      const running = start(args)
      t.teardown(() => running.stop())
      return running
    },
    until: (args: string, done: (stdout: string) => boolean) =>
      until(`kubectl ${args}`, async () => {
        const { stdout } = await run(args)
        return done(stdout) ? stdout || ' ' : undefined
      }),
  })
}
