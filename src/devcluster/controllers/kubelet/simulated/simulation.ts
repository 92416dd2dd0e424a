/** The behaviour of simulated Pods: delays that apply to all Pods, and annotations that make one Pod fail, crash or become ready late. */
import { quote } from '../../../../api/field-error.ts'
import { suggestion } from '../../../../api/option-checks.ts'
import { parseGoDuration } from '../../../../formats/go-duration.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { isOfJob } from '../../workloads/job/pods.ts'
import type { ProbeKind } from '../container-runtime.ts'
import { probeKinds } from '../container-runtime.ts'

/** The durations of the steps of simulated Pods, in milliseconds. The annotations of a Pod take precedence. */
export interface SimulationOptions {
  /** Time that the scheduler waits before it binds a new Pod to a node. Default 0. */
  readonly scheduleMs?: number
  /** Time that the pull of an image takes. Default 0. */
  readonly pullMs?: number
  /** Time from the pull of the image until the container runs. Default 0. */
  readonly startMs?: number
  /**
   * Time from the start of a container until it is ready. If `readyMs` is absent, the readiness probe of the container decides. A container
   * without a readiness probe is then ready at once.
   */
  readonly readyMs?: number
  /** Time that a container takes to stop. The time is limited by the grace period of the Pod. Default 100. */
  readonly stopMs?: number
  /** Time from the stop of a kubelet until its node counts as unreachable. Default 50 s, as in kube-controller-manager. */
  readonly nodeGraceMs?: number
}

/** The prefix of the annotations. `NAME.simulate.proreus.dev` is the prefix of annotations for the container NAME. */
export const simulationPrefix = 'simulate.proreus.dev'

/** The role of a container in its Pod. A sidecar is an init container that continues to run. */
export type ContainerRole = 'init' | 'sidecar' | 'regular' | 'ephemeral'

/** The period in which a probe fails. The period begins `afterMs` after the start of the container and lasts for `forMs`. */
export interface FailingTimes {
  readonly afterMs: number
  readonly forMs: number
}

/** The behaviour of one container. */
export interface ContainerPlan {
  readonly pullMs: number
  readonly startMs: number
  /**
   * The time from the start of the container until it is ready. Infinity for a container that never becomes ready. Undefined when the
   * readiness probe decides.
   */
  readonly readyMs: number | undefined
  readonly stopMs: number
  /** The duration of each of the first N runs, where N is `failures`. Undefined if these runs last until the container is stopped. */
  readonly runMs: number | undefined
  /**
   * The duration of each run after the first N runs, where N is `failures`. Each of these later runs ends with exit code 0. Undefined if
   * the later runs last until the container is stopped.
   */
  readonly healthyRunMs: number | undefined
  readonly exitCode: number
  readonly isOomKilled: boolean
  /**
   * For each kind of probe, the period in which the probe fails. These periods apply only to the first N runs of the container, where N is
   * `failures`. If `readyMs` is defined, the readiness probe also fails until `readyMs` has passed. At all other times, the probes succeed.
   */
  readonly probes: Readonly<Record<ProbeKind, FailingTimes>>
  /** The number of runs to which `runMs`, `exitCode` and `probes` apply, counted from the first run. Infinity for all runs. */
  readonly failures: number
  /** The error of each pull of the image; undefined when the image can be pulled. */
  readonly pullError: string | undefined
}

export interface PodPlan {
  readonly scheduleMs: number
  /** The time in milliseconds from the start of the Pod until the kubelet evicts it. Undefined when the Pod is not evicted. */
  readonly evictMs: number | undefined
  /** Returns the behaviour of a container. Annotations that name no container apply to regular containers only. */
  of(container: string, role: ContainerRole): ContainerPlan
  /** The errors in the annotations. Annotations with errors have no effect. */
  readonly problems: readonly string[]
}

const defaultStopMs = 100
/** The default duration of a run of a regular container whose Pod belongs to a Job. */
const jobRunMs = 100
/** The default of `runMs` for a container with the annotation `exit-code` or `oom-killed`. */
const failingRunMs = 1000
/** The `FailingTimes` of a probe that never fails. */
const neverFails: FailingTimes = { afterMs: Number.POSITIVE_INFINITY, forMs: 0 }
export const healthyProbes: ContainerPlan['probes'] = { startup: neverFails, liveness: neverFails, readiness: neverFails }
const defaultPullError = 'rpc error: code = NotFound desc = failed to pull and unpack image: not found'

type Reader = (text: string) => number | undefined

const duration: Reader = (text) => {
  const nanos = parseGoDuration(text)
  return nanos === undefined || nanos < 0n ? undefined : Number(nanos / 1_000_000n)
}
const number =
  (from: number, to: number): Reader =>
  (text) =>
    /^\d{1,9}$/.test(text) && Number(text) >= from && Number(text) <= to ? Number(text) : undefined
const [aDuration, aNumber] = ['must be a duration such as 10s or 1m30s', 'must be a whole number from']

const failsAfter = (kind: ProbeKind): string => `${kind}-fails-after`
const failsFor = (kind: ProbeKind): string => `${kind}-fails-for`

type Readers = Readonly<Record<string, readonly [read: Reader, expected: string]>>

/** The annotations of a container, except `pull-error`. Each entry has a parser of the value, and a description of valid values. */
const containerReaders: Readers = {
  'pull-delay': [duration, aDuration],
  'start-delay': [duration, aDuration],
  'ready-delay': [(text) => (text === 'never' ? Number.POSITIVE_INFINITY : duration(text)), `${aDuration}, or never`],
  'stop-delay': [duration, aDuration],
  'run-for': [duration, aDuration],
  'exit-code': [number(0, 255), `${aNumber} 0 to 255`],
  'oom-killed': [(text) => (text === 'true' ? 1 : text === 'false' ? 0 : undefined), 'must be true or false'],
  failures: [number(1, 1_000_000), `${aNumber} 1 to 1000000`],
  ...Object.fromEntries(probeKinds.flatMap((kind) => [failsAfter(kind), failsFor(kind)].map((name) => [name, [duration, aDuration]]))),
}
/** The annotations that apply to a whole Pod and cannot name a container. */
const podReaders: Readers = {
  'schedule-delay': [duration, aDuration],
  'evict-after': [duration, aDuration],
}
/** The annotation that makes each pull of the image fail. The value is the error message; an empty value means `defaultPullError`. */
const pullError = 'pull-error'

interface Probed {
  readonly startupProbe?: object
  readonly livenessProbe?: object
}

interface Values {
  readonly numbers: Readonly<Record<string, number>>
  readonly pullError?: string
}
const noValues: Values = { numbers: {} }

/** Returns the behaviour of a Pod. */
export function planOf(pod: ReadonlyPod, options: SimulationOptions = {}): PodPlan {
  const { byContainer, problems } = readAnnotations(pod)
  const own = byContainer.get('') ?? noValues
  const isJob = isOfJob(pod)
  return {
    scheduleMs: own.numbers['schedule-delay'] ?? options.scheduleMs ?? 0,
    evictMs: own.numbers['evict-after'],
    of(container, role) {
      const named = byContainer.get(container) ?? noValues
      if (role !== 'regular') return containerPlan(named, options, role === 'init' ? 0 : undefined)
      const numbers = { ...own.numbers, ...named.numbers }
      return containerPlan({ ...own, ...named, numbers }, options, isJob ? jobRunMs : undefined)
    },
    problems,
  }
}

function containerPlan({ numbers, pullError: error }: Values, options: SimulationOptions, healthyRunMs: number | undefined): ContainerPlan {
  const isOomKilled = numbers['oom-killed'] === 1
  const exitCode = isOomKilled ? 137 : (numbers['exit-code'] ?? 0)
  const ends = isOomKilled || numbers['exit-code'] !== undefined
  return {
    pullMs: numbers['pull-delay'] ?? options.pullMs ?? 0,
    startMs: numbers['start-delay'] ?? options.startMs ?? 0,
    readyMs: numbers['ready-delay'] ?? options.readyMs,
    stopMs: numbers['stop-delay'] ?? options.stopMs ?? defaultStopMs,
    runMs: numbers['run-for'] ?? (ends ? failingRunMs : healthyRunMs),
    healthyRunMs,
    exitCode,
    isOomKilled,
    probes: {
      startup: failingTimes(numbers, 'startup'),
      liveness: failingTimes(numbers, 'liveness'),
      readiness: failingTimes(numbers, 'readiness'),
    },
    failures: numbers['failures'] ?? Number.POSITIVE_INFINITY,
    pullError: error,
  }
}

function failingTimes(numbers: Values['numbers'], kind: ProbeKind): FailingTimes {
  const [afterMs, forMs] = [numbers[failsAfter(kind)], numbers[failsFor(kind)]]
  return afterMs === undefined && forMs === undefined ? neverFails : { afterMs: afterMs ?? 0, forMs: forMs ?? Number.POSITIVE_INFINITY }
}

/**
 * Returns the name of the probe field that the annotation `name` requires, e.g. `livenessProbe`. Returns undefined if the annotation
 * requires no probe, or if at least one of `containers` has this field.
 *
 * An annotation that makes a startup or liveness probe fail requires this probe. The readiness annotations require no probe, because the
 * simulation can make any container unready.
 */
function missingProbe(name: string, containers: readonly Probed[]): keyof Probed | undefined {
  const kind = (['startup', 'liveness'] as const).find((one) => name === failsAfter(one) || name === failsFor(one))
  if (kind === undefined) return undefined
  const probe = `${kind}Probe` as const
  return containers.some((one) => one[probe] !== undefined) ? undefined : probe
}

/**
 * Returns the values of the valid annotations, and the errors in the invalid annotations. The values are keyed by the name of the container
 * to which the annotation applies. If an annotation names no container, the key is an empty string.
 */
function readAnnotations({ metadata, spec }: ReadonlyPod): { byContainer: ReadonlyMap<string, Values>; problems: string[] } {
  const byContainer = new Map<string, Values>()
  const problems: string[] = []
  const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...(spec?.ephemeralContainers ?? [])]
  for (const [key, text] of Object.entries(metadata.annotations ?? {})) {
    const [domain = '', name = ''] = key.split('/')
    if (domain !== simulationPrefix && !domain.endsWith(`.${simulationPrefix}`)) continue
    const container = domain.slice(0, -simulationPrefix.length - 1)
    const known = container === '' ? { ...containerReaders, ...podReaders } : containerReaders
    const containers = container === '' ? (spec?.containers ?? []) : all.filter((one) => one.name === container)
    const missing = missingProbe(name, containers)
    const before = byContainer.get(container) ?? noValues
    if (containers.length === 0) problems.push(`${key}: the Pod has no container ${quote(container)}`)
    else if (name === pullError) byContainer.set(container, { ...before, pullError: text || defaultPullError })
    else if (!Object.hasOwn(known, name)) {
      const names = [...Object.keys(known), pullError]
      problems.push(`${key}: unknown annotation${suggestion(name, names) || `: there are ${names.join(', ')}`}`)
    } else if (missing !== undefined) problems.push(`${key}: no such container declares a ${missing}`)
    else {
      const [read, expected] = known[name]!
      const value = read(text)
      if (value === undefined) problems.push(`${key}: Invalid value: ${quote(text)}: ${expected}`)
      else byContainer.set(container, { ...before, numbers: { ...before.numbers, [name]: value } })
    }
  }
  return { byContainer, problems }
}
