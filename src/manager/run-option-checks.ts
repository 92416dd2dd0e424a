/** Validates the options of `run` at run time. Callers that do not use TypeScript need this validation. */
import type { OptionCheck } from '../api/option-checks.ts'
import {
  expect,
  hasOptions,
  isAnObject,
  isAnything,
  isBoolean,
  isClock,
  isDelay,
  isDuration,
  isFunction,
  isListOf,
  isLogger,
  isOneOf,
  isSignal,
  isText,
  isWholeNumber,
  refuseOptions,
} from '../api/option-checks.ts'
import type { Connection } from '../client/connection.ts'
import type { CertificateOptions } from './certificates.ts'
import type { LeaderElectionOptions } from './leader-election.ts'
import type { InjectionTargets, RunOptions, WebhookOptions } from './run-options.ts'

const isPort: OptionCheck = expect(
  'a port from 0 (any free one) to 65535',
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535,
)
const isShare: OptionCheck = expect('a number from 0 (none) to 1 (all)', (value) => typeof value === 'number' && value >= 0 && value <= 1)

const connectionChecks = {
  server: isText,
  ca: isText,
  insecureSkipTlsVerify: isBoolean,
  serverName: isText,
  proxyUrl: isText,
  namespace: isText,
  authorization: isFunction,
  headers: isAnObject,
  tls: isFunction,
  dial: isFunction,
  inCluster: isBoolean,
  describe: isText,
} satisfies Record<keyof Connection, OptionCheck>

const certificateNames = { names: isListOf(isText), ips: isListOf(isText) }
const certificateChecks: Readonly<Record<CertificateOptions['kind'], OptionCheck>> = {
  files: hasOptions({ kind: isAnything, directory: isText, ...certificateNames }, ['directory']),
  secret: hasOptions({ kind: isAnything, namespace: isText, name: isText, ...certificateNames }, ['namespace', 'name']),
}
const isCertificateKind = isOneOf(...Object.keys(certificateChecks))
const areCertificates: OptionCheck = (value, path) => {
  const wrong = isAnObject(value, path)
  if (wrong.length > 0) return wrong
  const { kind } = value as { kind: CertificateOptions['kind'] }
  return Object.hasOwn(certificateChecks, kind) ? certificateChecks[kind](value, path) : isCertificateKind(kind, `${path}.kind`)
}

const webhookChecks = {
  host: isText,
  port: isPort,
  url: isText,
  service: isText,
  reviewLogSampling: isShare,
  // Only the type is checked here. The webhook server validates the TLS version.
  tlsMinVersion: isText,
  tlsCipherSuites: isListOf(isText),
} satisfies Record<keyof WebhookOptions, OptionCheck>

const injectionChecks = {
  mutating: isListOf(isText),
  validating: isListOf(isText),
  definitions: isListOf(isText),
} satisfies Record<keyof InjectionTargets, OptionCheck>

const leaderElectionChecks = {
  name: isText,
  namespace: isText,
  labels: isAnObject,
  leaseDurationMs: isDuration,
  renewDeadlineMs: isDuration,
  retryPeriodMs: isDuration,
} satisfies Record<keyof LeaderElectionOptions, OptionCheck>
const checkLeaderElection = hasOptions(leaderElectionChecks)
const isLeaderElection: OptionCheck = (value, path) => (typeof value === 'boolean' ? [] : checkLeaderElection(value, path))

/** Maps each option of `run` to its check. Functions that pass options on to `run` use the same checks. */
export const runOptionChecks = {
  // Unknown properties of a connection are accepted, because callers may add their own properties. An unknown property is refused only if
  // its name is probably a misspelling of a known name.
  connection: hasOptions(connectionChecks, ['server', 'describe'], { mayHaveOthers: true }),
  name: isText,
  namespace: isText,
  signal: isSignal,
  certificates: areCertificates,
  webhook: hasOptions(webhookChecks),
  webhookConfigurations: hasOptions(injectionChecks, ['mutating', 'validating']),
  probeBindAddress: isText,
  metricsBindAddress: isText,
  metricsSecure: isBoolean,
  enableWebhooks: isBoolean,
  metricsCertDir: isText,
  debugBindAddress: isText,
  memoryLimitBytes: isWholeNumber(1),
  saveMemory: isBoolean,
  namespaces: isListOf(isText),
  maxConcurrentReconciles: isWholeNumber(1),
  drainDelayMs: isDelay,
  drainDeadlineMs: isDelay,
  leaderElection: isLeaderElection,
  instance: isText,
  logger: isLogger,
  clock: isClock,
  random: isFunction,
  metrics: isAnObject,
  onServing: isFunction,
  onStarted: isFunction,
} satisfies Record<keyof RunOptions, OptionCheck>
const checkOptions = hasOptions(runOptionChecks, ['connection'])

/**
 * Validates the options of `run`.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when options are invalid or unknown. The message contains all of them.
 */
export function checkRunOptions(options: RunOptions): void {
  refuseOptions('run', checkOptions(options, ''))
}
