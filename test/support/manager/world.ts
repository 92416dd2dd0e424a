/** Runs a small operator with the function `run` on an embedded API server, without fakes. */
import { configMap } from '../../../src/api/builtin.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { invalid } from '../../../src/api/field-error.ts'
import { defineKind, type Infer } from '../../../src/api/kind.ts'
import { controllerReference } from '../../../src/api/owner-reference.ts'
import { Type } from '../../../src/api/type.ts'
import { createClient, type Client } from '../../../src/client/client.ts'
import type { Connection } from '../../../src/client/connection.ts'
import { defineController } from '../../../src/controller/builder.ts'
import { startDevCluster, type DevCluster, type DevClusterUser } from '../../../src/devcluster/dev-cluster.ts'
import { defineOperator, type Operator } from '../../../src/manager/operator.ts'
import { run } from '../../../src/manager/run.ts'
import type { Endpoints, RunOptions } from '../../../src/manager/run-options.ts'
import { installKinds, installWebhooks, whenTrusted } from '../../../src/manifests/install.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'

export const note = defineKind({
  group: 'example.com',
  kind: 'Note',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({ text: Type.String(), author: Type.String({ default: 'nobody' }) }),
      status: Type.Object({ written: Type.Boolean() }),
    },
  ],
})
export type Note = Infer<typeof note>

/** An operator that writes the text of each Note into a ConfigMap, and denies Notes with the text `bad`. */
export const noteOperator: Operator = defineOperator({
  name: 'note',
  kinds: [note],
  webhooks: [
    defineWebhook(note, { validate: (object) => (object.spec.text === 'bad' ? [invalid('spec.text', 'bad', 'must be good')] : []) }),
  ],
  controllers: [
    defineController(note, {
      owns: [configMap],
      async reconcile(object, { client, cache, events }) {
        const { namespace, name } = object.metadata
        const data = { text: object.spec.text }
        const live = cache.get(configMap, object.metadata)
        if (live?.data?.['text'] === data.text) return
        const metadata = { name, ...(namespace === undefined ? {} : { namespace }), ownerReferences: [controllerReference(object)] }
        if (live === undefined) await client.create(configMap, { metadata, data })
        else await client.patch(configMap, object.metadata, { data })
        events.event(object, 'Normal', 'Written', `wrote the ConfigMap ${name}`)
        await client.patchStatus(note, object.metadata, { status: { written: true } })
      },
    }),
  ],
})

type Teardown = { teardown(end: () => unknown): unknown; testdir(): string }

export interface Cluster {
  readonly cluster: DevCluster
  readonly client: Client
}

export async function startCluster(t: Teardown, users: readonly DevClusterUser[] = []): Promise<Cluster> {
  const cluster = await startDevCluster({ port: 0, namespaces: [], users, controllers: false, logger: silentLogger() })
  const client = createClient(cluster.connection)
  t.teardown(async () => {
    await client.close()
    await cluster.close()
  })
  return { cluster, client }
}

export interface RunningOperator {
  readonly endpoints: Endpoints
  readonly stop: AbortController
  readonly done: Promise<void>
}

/**
 * Runs the operator. If `install` is true (default), the kinds and webhook configurations of the operator are installed when its servers
 * listen.
 */
export async function runNotes(
  t: Teardown,
  { cluster, client }: Cluster,
  options: Partial<RunOptions> & { readonly install?: boolean; readonly connection?: Connection } = {},
): Promise<RunningOperator> {
  const stop = new AbortController()
  const started = Promise.withResolvers<Endpoints>()
  const { install = true, ...rest } = options
  // By default, the certificates are in the folder of `testdir`, which `testdir` empties. If a run must reuse the certificates of an
  // earlier run, the test passes the option `certificates`. In this case, `testdir` is not called.
  const certificates = rest.certificates ?? { kind: 'files', directory: `${t.testdir()}/certs` }
  const done = run([noteOperator], {
    connection: cluster.connection,
    signal: stop.signal,
    webhook: { host: '127.0.0.1', port: 0 },
    probeBindAddress: '127.0.0.1:0',
    metricsBindAddress: '127.0.0.1:0',
    drainDelayMs: 0,
    logger: silentLogger(),
    async onServing({ webhook: served }) {
      if (install) await installKinds(client, [noteOperator], systemClock)
      if (install && served !== undefined) await installWebhooks(client, [noteOperator], { url: served.url })
    },
    async onStarted(endpoints) {
      if (install && endpoints.webhook !== undefined) await whenTrusted(client, [noteOperator], endpoints.webhook.caBundle, systemClock)
      started.resolve(endpoints)
    },
    ...rest,
    certificates,
  })
  done.catch((error: unknown) => started.reject(error))
  t.teardown(async () => {
    stop.abort()
    await done.catch(() => undefined)
  })
  return { endpoints: await started.promise, stop, done }
}
