/** An embedded API server for one test file, and the real kubectl as its client. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { DevCluster, DevClusterOptions } from '../../../src/devcluster/dev-cluster.ts'
import { startDevCluster } from '../../../src/devcluster/dev-cluster.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { kubectlFor } from '../process/process.ts'
import { until } from '../../../src/testing/until.ts'
import type { Finished, Running } from '../process/process.ts'

/** Starts an embedded cluster on a free port. The cluster is closed at the end of the test. */
export async function startTestCluster(t: Test, options: Partial<DevClusterOptions> = {}): Promise<DevCluster> {
  const cluster = await startDevCluster({ port: 0, logger: silentLogger(), ...options })
  t.teardown(() => cluster.close())
  return cluster
}

export interface Kubectl {
  /** Runs kubectl. `args` is split at blanks, except within single quotes. */
  (args: string, input?: string): Promise<Finished>
  /** Runs kubectl and returns its standard output. Throws when the command fails. */
  ok(args: string, input?: string): Promise<string>
  /** Starts kubectl without waiting for its end. If kubectl still runs at the end of the test, kubectl is stopped. */
  start(args: string): Running
  /** Repeats a kubectl command until `done` returns true for its standard output. */
  until(args: string, done: (stdout: string) => boolean): Promise<string>
}

/**
 * Returns a kubectl that authenticates as the administrator of the cluster. The home folder and the discovery cache of this kubectl are not
 * shared with other tests.
 */
export function kubectlOf(t: Test, cluster: DevCluster): Kubectl {
  const kubeconfig = join(t.testdir(), 'kubeconfig')
  writeFileSync(kubeconfig, cluster.kubeconfigYaml(), { mode: 0o600 })
  return kubectlAs(t, kubeconfig)
}

/** Returns a kubectl with this kubeconfig. The home folder and the discovery cache of this kubectl are not shared with other tests. */
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
