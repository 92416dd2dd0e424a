/** Counts the writes of the MyPod operator while a MyPod is created, its Pod gets a label, the Pod is deleted, and the MyPod is deleted. */
import { core } from '../../src/index.ts'
import { mypod } from '../../src/operators/mypod/kind.ts'
import { mypodOperator } from '../../src/operators/mypod/index.ts'
import type { RequestRecord } from '../../src/testing/index.ts'
import { rulesOfOperators, startControlPlane, until } from '../../src/testing/index.ts'
import type { ProgramName } from '../../src/testing/binaries.ts'
import { programs } from '../../src/testing/binaries.ts'
import { ensurePrograms, showProgress } from '../../scripts/tools.ts'
import { isCounted } from './api-server.ts'

const key = { namespace: 'bench', name: 'a' }
const user = 'mypod'
/**
 * Time limit in milliseconds for the garbage collector to delete the Pod. The limit is long, because the garbage collector looks for new
 * kinds only every 30 s.
 */
const collectedMs = 60_000

/**
 * Resolves to the writes that the MyPod operator sends after its start. Each write has the form `VERB PATH CODE`. The writes that
 * `isCounted` rejects are not included.
 */
export async function writesOfMyPodLife(): Promise<readonly string[]> {
  await ensurePrograms(Object.keys(programs) as ProgramName[], { env: process.env, progress: showProgress })
  const rules = rulesOfOperators([mypodOperator])
  const controlPlane = await startControlPlane({ backend: 'binaries', namespaces: [key.namespace], users: [{ name: user, rules }] })
  try {
    const { client } = controlPlane
    await controlPlane.startOperator([mypodOperator], { connection: controlPlane.connectionFor(user) })
    const installed = writes(await controlPlane.requests()).length
    const ready = (generation: number, not?: string): Promise<string> =>
      until('the MyPod is ready', async () => {
        const { metadata, status } = await client.get(mypod, key)
        const { uid } = (await client.get(core.pod, key)).metadata
        const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
        return isReady && uid !== not && metadata.generation === generation && status?.observedGeneration === generation && uid
      })
    await until('the webhooks are called', () =>
      client.create(mypod, { metadata: key, spec: { podSpec: { containers: [{ name: 'main', image: 'nginx' }] } } }),
    )
    const uid = await ready(1)
    await client.patch(mypod, key, { spec: { podLabels: { tier: 'web' } } })
    await until('the Pod has the label', async () => (await client.get(core.pod, key)).metadata.labels?.['tier'] === 'web')
    await ready(2)
    await client.delete(core.pod, key, { gracePeriodSeconds: 0 })
    await ready(2, uid)
    await client.delete(mypod, key)
    await until('the Pod has gone', async () => (await client.list(core.pod, { namespace: key.namespace })).items.length === 0, collectedMs)
    return writes(await controlPlane.requests()).slice(installed)
  } finally {
    await controlPlane.stop()
  }
}

function writes(requests: readonly RequestRecord[]): string[] {
  return requests.filter((request) => request.user === user && isCounted(request)).map(({ verb, path, code }) => `${verb} ${path} ${code}`)
}
