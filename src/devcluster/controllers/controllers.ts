/** Runs the controllers of the embedded cluster. These controllers replace kube-controller-manager, kube-scheduler and the kubelets. */
import type { Clock } from '../../runtime/clock.ts'
import { Cache } from '../../cache/cache.ts'
import type { KeyPair } from '../../certs/issue.ts'
import type { Client } from '../../client/client.ts'
import type { ControllerDefinition } from '../../controller/builder.ts'
import { runController } from '../../controller/run-controller.ts'
import type { EventRecorder } from '../../telemetry/event-recorder.ts'
import { counter, createEventRecorder } from '../../telemetry/event-recorder.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { Metrics } from '../../telemetry/metrics.ts'
import { autoscalerController } from './autoscaler/autoscaler.ts'
import { approvingController } from './certificates/approving.ts'
import { cleanerController } from './certificates/cleaner.ts'
import { signingController } from './certificates/signing.ts'
import type { ControllerName, ControllerSelection } from './controller-selection.ts'
import { isSelected } from './controller-selection.ts'
import { disruptionController } from './disruption/disruption.ts'
import { endpointSliceController } from './endpoints/endpoint-slices.ts'
import { endpointsController } from './endpoints/endpoints.ts'
import { endpointsMirroringController } from './endpoints/mirroring.ts'
import { runGarbageCollector } from './garbage-collector.ts'
import type { ContainerRuntime } from './kubelet/container-runtime.ts'
import { kubelet } from './kubelet/kubelet.ts'
import type { SimulationOptions } from './kubelet/simulated/simulation.ts'
import { namespaceController } from './namespace-controller.ts'
import { nodeLifecycle } from './nodes/node-lifecycle.ts'
import { nodeRegistration } from './nodes/node-registration.ts'
import { podGarbageCollector } from './nodes/pod-garbage-collector.ts'
import { terminatedPodCollector } from './nodes/terminated-pods.ts'
import { taintEviction } from './nodes/taint-eviction.ts'
import { rootCaPublisher } from './root-ca-publisher.ts'
import { scheduler } from './scheduler/scheduler.ts'
import { serviceAccountController } from './service-account-controller.ts'
import type { TypeSource } from './type-source.ts'
import { claimController } from './volumes/claims.ts'
import { claimProtectionController, volumeProtectionController } from './volumes/protection.ts'
import { volumeController } from './volumes/volumes.ts'
import { cronJobController } from './workloads/cron-job/cron-job.ts'
import { daemonSetController } from './workloads/daemon-set/daemon-set.ts'
import { deploymentController } from './workloads/deployment/deployment.ts'
import { jobController } from './workloads/job/job.ts'
import { orphanedPodController } from './workloads/job/orphaned-pods.ts'
import { timeToLiveController } from './workloads/job/time-to-live.ts'
import { replicaSetController, replicationController } from './workloads/replica-set.ts'
import { statefulSetController } from './workloads/stateful-set/stateful-set.ts'

export interface ControllersOptions {
  readonly client: Client
  readonly source: TypeSource
  /** Calls `listener` before each restore of a snapshot. */
  readonly onRestore: (listener: () => void) => void
  /** The CA of the cluster. */
  readonly authority: KeyPair
  /** The version of the simulated kubelets. */
  readonly version: string
  readonly simulation: SimulationOptions
  /** Runs the containers of Pods. */
  readonly runtime: ContainerRuntime
  /** Further controllers, e.g. for the network of Pods whose containers run as processes. Default: none. */
  readonly others?: readonly ControllerDefinition[]
  /** The controllers that run. */
  readonly selection: ControllerSelection
  readonly logger: Logger
  readonly clock: Clock
  /** Returns a number in [0, 1), for jitter and ids. */
  readonly random: () => number
}

/** Runs the scheduler, the kubelets and the selected controllers until the signal is aborted. Resolves when all of them have ended. */
export async function runControllers(options: ControllersOptions, signal: AbortSignal): Promise<void> {
  const { client, source, onRestore, clock, random, simulation, version, selection } = options
  const logger = quiet(options.logger)
  const metrics = new Metrics()
  const cache = new Cache(client, { logger, clock, random })
  const nextNumber = counter()
  const eventsOf = (component: string, node?: string): EventRecorder => {
    const place = node === undefined ? { instance: '' } : { instance: node, host: node }
    return createEventRecorder(client, { component, ...place, nextNumber, logger, clock, random })
  }
  const kubeletEvents = { eventsOf: (node: string) => eventsOf('kubelet', node) }
  const start = (definition: ControllerDefinition, component: string): Promise<void> => {
    const events = eventsOf(component)
    // The cluster stops as a whole, so running reconciles get no grace period.
    return runController(definition, { client, cache, logger, metrics, clock, random, events, graceMs: 0 }, signal)
  }
  /** Runs a controller if it is selected. `component` is the source of its Events. */
  const startSelected = async (name: ControllerName, definition: ControllerDefinition, component: string = name): Promise<void> => {
    if (isSelected(selection, name)) await start(definition, component)
  }
  const collectGarbage = (): Promise<void> =>
    runGarbageCollector({ client, source, onRestore, logger, clock, events: eventsOf('garbage-collector-controller') }, signal)
  await Promise.all([
    start(scheduler(simulation), 'default-scheduler'),
    start(kubelet({ runtime: options.runtime, ...kubeletEvents }), 'kubelet'),
    ...(options.others ?? []).map((definition) => start(definition, definition.name)),
    start(nodeRegistration({ version, ...kubeletEvents }), 'kubelet'),
    startSelected('node-lifecycle-controller', nodeLifecycle(simulation.nodeGraceMs), 'node-controller'),
    startSelected('taint-eviction-controller', taintEviction()),
    startSelected('pod-garbage-collector-controller', podGarbageCollector(), 'pod-garbage-collector'),
    startSelected('pod-garbage-collector-controller', terminatedPodCollector(), 'pod-garbage-collector'),
    startSelected('namespace-controller', namespaceController(source)),
    startSelected('serviceaccount-controller', serviceAccountController()),
    startSelected('root-ca-certificate-publisher-controller', rootCaPublisher(options.authority.cert)),
    startSelected('certificatesigningrequest-approving-controller', approvingController(), 'csrapproving'),
    startSelected('certificatesigningrequest-signing-controller', signingController(options.authority), 'csrsigning'),
    startSelected('certificatesigningrequest-cleaner-controller', cleanerController(), 'csrcleaner'),
    startSelected('deployment-controller', deploymentController()),
    startSelected('replicaset-controller', replicaSetController()),
    startSelected('replicationcontroller-controller', replicationController(), 'replication-controller'),
    startSelected('statefulset-controller', statefulSetController()),
    startSelected('daemonset-controller', daemonSetController()),
    startSelected('job-controller', jobController()),
    startSelected('job-controller', orphanedPodController()),
    startSelected('ttl-after-finished-controller', timeToLiveController()),
    startSelected('cronjob-controller', cronJobController()),
    startSelected('endpointslice-controller', endpointSliceController(), 'endpoint-slice-controller'),
    startSelected('endpointslice-mirroring-controller', endpointsMirroringController(), 'endpoint-slice-mirroring-controller'),
    startSelected('endpoints-controller', endpointsController(), 'endpoint-controller'),
    startSelected('disruption-controller', disruptionController(source), 'controllermanager'),
    startSelected('horizontal-pod-autoscaler-controller', autoscalerController(source), 'horizontal-pod-autoscaler'),
    startSelected('persistentvolume-binder-controller', claimController(), 'persistentvolume-controller'),
    startSelected('persistentvolume-binder-controller', volumeController(), 'persistentvolume-controller'),
    startSelected('persistentvolumeclaim-protection-controller', claimProtectionController()),
    startSelected('persistentvolume-protection-controller', volumeProtectionController()),
    cache.start(signal),
    isSelected(selection, 'garbage-collector-controller') ? collectGarbage() : undefined,
  ])
}

/** Returns a child of `logger` that logs only errors. If `logger` logs debug messages, or does not log errors, returns `logger` itself. */
function quiet(logger: Logger): Logger {
  if (logger.isLevelEnabled('debug') || !logger.isLevelEnabled('error')) return logger
  return logger.child({}, { level: 'error' })
}
