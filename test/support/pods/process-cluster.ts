/** An embedded cluster whose Pods are processes, for a test. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Event, Pod } from '../../../src/api/builtin.ts'
import { event, pod as podType } from '../../../src/api/builtin.ts'
import type { Client } from '../../../src/client/client.ts'
import type { DevCluster } from '../../../src/devcluster/dev-cluster.ts'
import { until } from '../../../src/testing/until.ts'
import { clientFor } from '../devcluster/client.ts'
import { startTestCluster } from '../devcluster/kubectl.ts'

export const keyOf = (name: string): { name: string; namespace: string } => ({ name, namespace: 'default' })

export interface ProcessCluster {
  readonly cluster: DevCluster
  readonly client: Client
  readonly stateFolder: string
  /** Creates a Pod with one container `main`. */
  run(name: string, container: object, spec?: object): Promise<Pod>
  /** Resolves with the Pod when `condition` is true for it. */
  untilPod(name: string, condition: (pod: Pod) => boolean): Promise<Pod>
  /**
   * Resolves with the output that one run of a container has written so far. `run` is the number of restarts before this run (default: 0).
   */
  output(pod: Pod, container?: string, run?: number): Promise<string>
  /** Resolves with the Events of a Pod, as `TYPE REASON: MESSAGE`. */
  events(name: string): Promise<string[]>
}

export async function startProcessCluster(
  t: Test,
  options: { readonly images?: Readonly<Record<string, string>> } = {},
): Promise<ProcessCluster> {
  const stateFolder = await mkdtemp(join(tmpdir(), 'proreus-pods-'))
  t.teardown(() => rm(stateFolder, { recursive: true, force: true }))
  const cluster = await startTestCluster(t, { pods: { stateFolder, ...options } })
  const client = clientFor(t, cluster.connection)
  return {
    cluster,
    client,
    stateFolder,
    run: (name, container, spec = {}) =>
      client.create(podType, {
        metadata: keyOf(name),
        spec: {
          terminationGracePeriodSeconds: 2,
          ...spec,
          containers: [{ name: 'main', image: 'example.com/app:1', ...container }],
        } as never,
      }),
    untilPod: (name, condition) =>
      until(`the Pod ${name} is as expected`, async () => {
        const found = await client.get(podType, keyOf(name))
        return condition(found) && found
      }),
    async output({ metadata }, container = 'main', run = 0) {
      const folder = join(stateFolder, 'logs', metadata.uid, container)
      const files = (await readdir(folder)).filter((name) => name.startsWith(`${run}.`))
      const { readFile } = await import('node:fs/promises')
      const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
      return texts
        .join('')
        .split('\n')
        .map((line) => line.split(' ').slice(3).join(' '))
        .join('\n')
    },
    async events(name) {
      const { items } = await client.list(event, { namespace: 'default', fieldSelector: `involvedObject.name=${name}` })
      return items.map(({ type, reason, message }: Event) => `${type} ${reason}: ${message}`)
    },
  }
}

/**
 * If this machine does not permit Linux namespaces for Pods, reports a skipped test with the reason, and ends the process of the test file.
 */
export async function needNamespaces(t: Test, cluster: DevCluster): Promise<void> {
  if (cluster.pods?.mode === 'namespaces') return
  await cluster.close()
  const skip = `this machine permits no namespaces: ${cluster.pods?.plainBecause}`
  await t.test('the tests of this file', { skip }, (t) => t.end())
  process.exit(0)
}

export const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'
