/** The operators of `proreus dev`: loads them, installs their CRDs and webhook configurations, and runs them. */
import { existsSync } from 'node:fs'
import { namespace as namespaceType } from '../api/builtin.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import { isAlreadyExists } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'
import { createClient } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import { builtinResources } from '../devcluster/resources/builtin/index.ts'
import { installKinds, installWebhooks, removeWebhooks, whenTrusted } from '../manifests/install.ts'
import { installationName } from '../manager/installation-names.ts'
import type { Operator } from '../manager/operator.ts'
import { run } from '../manager/run.ts'
import type { Endpoints } from '../manager/run-options.ts'
import { mypodOperator } from '../operators/mypod/index.ts'
import { systemClock } from '../runtime/clock.ts'
import { aborted } from '../runtime/waiting.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { OperatorSelection } from './operators.ts'
import { selectOperators } from './operators.ts'

/** The sample custom resource in this repository, and its namespace. */
const mypodSample = { path: 'config/samples/mypod.yaml', namespace: 'test-mypod' }

export interface DevOperators {
  readonly operators: readonly Operator[]
  /** The name of the installation. The names of objects such as webhook configurations are derived from this name. */
  readonly name: string
}

/** Loads the selected operators. */
export async function selectDevOperators(options: OperatorSelection): Promise<DevOperators> {
  const { operators, name: given } = await selectOperators(options)
  // By default, an installation has the name of its only operator. If several operators are selected, `dev` is the default name. This name
  // is unique, because an embedded cluster contains only one installation.
  return { operators, name: installationName(operators, given ?? (operators.length > 1 ? 'dev' : undefined)) }
}

/** The data from which `proreus dev` creates the commands that it suggests to the user. */
export interface NextSteps {
  /** The resource of the first kind of the first operator, in a form that kubectl accepts; absent if there is no such kind. */
  readonly resource?: string
  /** The path of the manifest of a sample object; absent if there is no sample. */
  readonly sample?: string
}

export interface DevOperatorsOptions extends DevOperators {
  readonly connection: Connection
  /** The folder of the serving certificate of the webhooks. */
  readonly certDir: string
  /** The URLs of the webhooks and the metrics. Default: the addresses on which the servers listen. */
  readonly urls?: { readonly webhook: string; readonly metrics: string }
  /**
   * Time limit in milliseconds for the requests and reconciles that are in progress when the signal aborts. Default: the default of `run`.
   */
  readonly drainDeadlineMs?: number
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Reports that a step of the start has finished. */
  done(step: string, detail: string): void
  /** Called after the servers have begun to accept connections, and before the API server can call the webhooks. */
  onServing?(endpoints: Endpoints): void
  /** Called when the operators run, and the API server trusts their webhooks. */
  ready(next: NextSteps): Promise<void> | void
}

/**
 * Installs and runs the operators, as `proreus run --install` does, until the signal aborts. All servers listen on the loopback interface.
 */
export async function runDevOperators(options: DevOperatorsOptions): Promise<void> {
  const { operators, connection, name, signal, certDir, urls, logger, done, ready } = options
  const client = createClient(connection)
  try {
    if (operators.includes(mypodOperator)) await createNamespace(client, mypodSample.namespace)
    await installKinds(client, operators, systemClock, { name, signal, takeOverAdvice: 'forget the kept objects with --reset' })
    if (operators.length === 0) {
      await ready({})
      return await aborted(signal)
    }
    done('custom resources', operators.flatMap(({ kinds }) => kinds.map(({ kind, group }) => `${kind}.${group}`)).join(', '))
    await run(operators, {
      connection,
      name,
      logger,
      signal,
      certificates: { kind: 'files', directory: certDir },
      webhook: { host: '127.0.0.1', port: 0, ...(urls !== undefined && { url: urls.webhook }) },
      probeBindAddress: '127.0.0.1:0',
      metricsBindAddress: '127.0.0.1:0',
      drainDelayMs: 0,
      ...(options.drainDeadlineMs !== undefined && { drainDeadlineMs: options.drainDeadlineMs }),
      saveMemory: false,
      async onServing(endpoints) {
        options.onServing?.(endpoints)
        const { webhook } = endpoints
        // If the operators have no webhooks, the webhook configurations of an earlier version of the operators are removed.
        if (webhook === undefined) return await removeWebhooks(client, operators, { name, signal })
        await installWebhooks(client, operators, { url: webhook.url }, { name, signal })
        done('webhooks', webhook.url)
      },
      async onStarted({ webhook, metrics }) {
        if (webhook !== undefined) await whenTrusted(client, operators, webhook.caBundle, systemClock, { name, signal })
        done('controllers', operators.flatMap(({ controllers }) => controllers.map(({ name }) => name)).join(', '))
        if (metrics !== undefined) done('metrics', urls?.metrics ?? `http://${metrics.host}:${metrics.port}/metrics`)
        await ready(nextSteps(operators))
      },
    })
  } finally {
    await client.close()
  }
}

async function createNamespace(client: Client, name: string): Promise<void> {
  try {
    await client.create(namespaceType, { metadata: { name } })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

/**
 * The plurals of the built-in types. If a custom resource has one of these plurals, kubectl finds the custom resource only by plural and
 * group.
 */
const builtinPlurals: ReadonlySet<string> = new Set(builtinResources.map(({ plural }) => plural))

function nextSteps(operators: readonly Operator[]): NextSteps {
  const kind = operators[0]?.kinds[0]
  const resource = kind && (builtinPlurals.has(kind.plural) ? groupResourceOf(kind) : kind.plural)
  const hasSample = operators.includes(mypodOperator) && existsSync(mypodSample.path)
  return { ...(resource !== undefined && { resource }), ...(hasSample && { sample: mypodSample.path }) }
}
