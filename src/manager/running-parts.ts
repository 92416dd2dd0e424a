/**
 * The running components of the process. The function that starts the process adds the components, the probes read them, and the graceful
 * shutdown stops them.
 */
import type { CertificateSource } from '../certs/serving-certificate.ts'
import type { Client } from '../client/client.ts'
import type { WebhookServer } from '../webhook/server.ts'
import type { ProcessElection } from './leader-election.ts'
import type { BackgroundTask } from './background.ts'
import type { DebuggedQueue } from './debug-handlers.ts'
import type { Check } from './health-handler.ts'
import type { MonitoringEndpoints } from './monitoring-endpoints.ts'
import type { OperatorIdentity } from './operator-identity.ts'
import type { Operator } from './operator.ts'
import type { Probes } from './probe-server.ts'

export interface Running {
  /** The client of the process. Its field manager is the name of the installation. */
  readonly client: Client
  readonly identities: ReadonlyMap<Operator, OperatorIdentity>
  /** True from the beginning of the graceful shutdown. */
  draining: boolean
  probes?: Probes
  monitoring?: MonitoringEndpoints
  certificates?: { readonly source: CertificateSource; readonly task: BackgroundTask }
  webhookServer?: WebhookServer
  /** The readiness check of the webhook server; undefined until the server listens. */
  webhookCheck?: Check
  injection?: BackgroundTask | undefined
  cache?: { readonly task: BackgroundTask; status(): readonly { type: string; view?: string; synced: boolean; lastError?: string }[] }
  /** Undefined without leader election. */
  readonly election?: ProcessElection | undefined
  electionTask?: BackgroundTask
  readonly controllers: Map<string, BackgroundTask>
  /** The work queues of the controllers, for the debug endpoint. */
  readonly queues: Map<string, DebuggedQueue>
  /** The runnables of all operators, keyed by their names. */
  readonly runnables: Map<string, BackgroundTask>
  /** The health checks of all operators. */
  readonly operatorChecks: { readonly healthz: readonly Check[]; readonly readyz: readonly Check[] }
}
