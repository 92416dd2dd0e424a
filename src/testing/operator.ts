/** `controlPlane.startOperator`: installs the CRDs and webhook configurations of operators, and runs the operators in this process. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../runtime/clock.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, refuseOptions } from '../api/option-checks.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import { installationName, namesOf } from '../manager/installation-names.ts'
import type { Operator } from '../manager/operator.ts'
import { run } from '../manager/run.ts'
import { runOptionChecks } from '../manager/run-option-checks.ts'
import type { Endpoints } from '../manager/run-options.ts'
import { installKinds, installWebhooks, whenTrusted } from '../manifests/install.ts'
import { managerRole } from '../manifests/rbac.ts'
import type { ControlPlane } from './control-plane-types.ts'
import type { StartOperatorOptions, StartedOperator } from './started-operator.ts'

const { name, connection, namespaces, leaderElection, logger, clock, random } = runOptionChecks
const startChecks = { name, connection, namespaces, leaderElection, logger, clock, random } satisfies Record<
  keyof StartOperatorOptions,
  OptionCheck
>
const checkOptions = hasOptions(startChecks)

/** The values that are used for options that the caller of `startOperator` has not set. */
export type OperatorDefaults = Required<Pick<StartOperatorOptions, 'logger' | 'clock' | 'random'>>

/**
 * Installs the CRDs and webhook configurations of operators, and runs the operators. Resolves when the servers and controllers of the
 * operators have been started, and the `caBundle` of each webhook contains the CA certificates of the operators. The caches may not have
 * synced yet.
 */
export async function startOperator(
  { client, connection, ...defaults }: Pick<ControlPlane, 'client' | 'connection'> & OperatorDefaults,
  operators: readonly Operator[],
  options: StartOperatorOptions = {},
): Promise<StartedOperator> {
  refuseOptions('startOperator', checkOptions(options, ''))
  const stop = new AbortController()
  const directory = await mkdtemp(join(tmpdir(), 'proreus-'))
  const started = Promise.withResolvers<Endpoints>()
  const start = async (): Promise<void> => {
    const name = nameInTests(operators, options.name)
    await installKinds(client, operators, systemClock, { name })
    await run(operators, {
      name,
      connection: options.connection ?? connection,
      signal: stop.signal,
      certificates: { kind: 'files', directory },
      webhook: { host: '127.0.0.1', port: 0 },
      probeBindAddress: '127.0.0.1:0',
      metricsBindAddress: '127.0.0.1:0',
      drainDelayMs: 0,
      saveMemory: false,
      ...(options.namespaces === undefined ? {} : { namespaces: options.namespaces }),
      leaderElection: options.leaderElection ?? false,
      logger: options.logger ?? defaults.logger,
      clock: options.clock ?? defaults.clock,
      random: options.random ?? defaults.random,
      async onServing({ webhook }) {
        if (webhook !== undefined) await installWebhooks(client, operators, { url: webhook.url }, { name })
      },
      async onStarted(endpoints) {
        if (endpoints.webhook !== undefined) await whenTrusted(client, operators, endpoints.webhook.caBundle, systemClock, { name })
        started.resolve(endpoints)
      },
    })
  }
  const ended = start().finally(() => rm(directory, { recursive: true, force: true }))
  ended.catch((error: unknown) => started.reject(error as Error))
  return {
    endpoints: await started.promise,
    ended,
    async stop() {
      stop.abort()
      await ended
    },
  }
}

function nameInTests(operators: readonly Operator[], given: string | undefined): string {
  return installationName(operators, given ?? (operators.length > 1 ? 'test' : undefined))
}

/**
 * Returns the rules of the ClusterRole that `proreus generate` writes for the operators. The rules include those in the option `rbac` of an
 * operator.
 *
 * A test can run the operators as a user or ServiceAccount that has only these rules. The test then fails when a handler or reconciler
 * needs another permission.
 *
 * @param name the name of the installation. The default is the same as in `startOperator`.
 */
export function rulesOfOperators(operators: readonly Operator[], name?: string): readonly PolicyRule[] {
  return managerRole(operators, namesOf(nameInTests(operators, name)))['rules'] as unknown as readonly PolicyRule[]
}
