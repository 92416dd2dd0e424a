/** The kube-apiserver of a measurement, with one user for each compared program. */
import { join } from 'node:path'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { writeKubeconfig } from '../../src/devcluster/state/kubeconfig.ts'
import type { ControlPlane, ControlPlaneOptions, RequestRecord } from '../../src/testing/index.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { ensurePrograms, showProgress } from '../../scripts/tools.ts'
import { installApps, namespace } from './apps.ts'
import type { Program } from './programs.ts'

const rules = [
  { apiGroups: ['bench.proreus.dev'], resources: ['apps', 'apps/status'], verbs: ['*'] },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['*'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['*'] },
]

export interface ApiServer {
  readonly controlPlane: ControlPlane
  /** Returns the environment variables for the program. With these variables, the program connects as its user. */
  envOf(program: Program): Readonly<Record<string, string>>
  /** Resolves to the writes that the program has sent since the API server started. Writes that `isCounted` rejects are left out. */
  writesOf(program: Program): Promise<readonly RequestRecord[]>
}

/** Starts etcd and kube-apiserver, installs the CRD of App, calls `measure`, and stops both servers. */
export async function withApiServer(programs: readonly Program[], measure: (server: ApiServer) => Promise<void>): Promise<void> {
  await ensurePrograms(['etcd', 'kube-apiserver'], { env: process.env, progress: showProgress })
  const options: ControlPlaneOptions = { backend: 'binaries', controllers: false, namespaces: [namespace] }
  const users = programs.map(({ user }) => ({ name: user, rules }))
  const directory = await mkdtemp(join(tmpdir(), 'proreus-bench-'))
  const controlPlane = await startControlPlane({ ...options, users })
  try {
    for (const { user } of programs) {
      const { server, ca, authorization } = controlPlane.connectionFor(user)
      const token = (await authorization!())!.replace('Bearer ', '')
      await writeKubeconfig(join(directory, user), { server, ca: ca!, userName: user, token })
    }
    await installApps(controlPlane.client)
    await measure({
      controlPlane,
      envOf: ({ user }) => ({ KUBECONFIG: join(directory, user) }),
      async writesOf({ user }) {
        return (await controlPlane.requests()).filter((request) => request.user === user && isCounted(request))
      },
    })
  } finally {
    await controlPlane.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

const writingVerbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection'])

/**
 * Returns true for a write of an object other than an Event or a Lease, even if the write has failed. Access reviews and dry runs store
 * nothing, and are not counted.
 */
export function isCounted({ verb, path, query }: RequestRecord): boolean {
  const isStored = !new URLSearchParams(query).has('dryRun') && !/accessreviews$/.test(path)
  return writingVerbs.has(verb) && isStored && !/\/(events|leases)(\/|$)/.test(path)
}
