/** Reads the Pod Security policy of a namespace from its labels `pod-security.kubernetes.io/…`. */
import type { FieldError } from '../../api/field-error.ts'
import { invalid } from '../../api/field-error.ts'
import type { Labels } from '../../api/label-selector.ts'

/** The levels of the Pod Security Standards, from the most permissive to the strictest. */
const levels = ['privileged', 'baseline', 'restricted'] as const
export type Level = (typeof levels)[number]

export interface LevelVersion {
  readonly level: Level
  /** A version of the Pod Security Standards: `latest`, or `v1.x` for a minor version of Kubernetes. */
  readonly version: string
}

/**
 * The levels and versions of the modes `enforce` and `warn`. The level of the mode `audit` is not needed, because there is no audit log.
 */
export interface PodSecurityPolicy {
  readonly enforce: LevelVersion
  readonly warn: LevelVersion
}

const label = (name: string): string => `pod-security.kubernetes.io/${name}`

export function textOf({ level, version }: LevelVersion): string {
  return `${level}:${version}`
}

/** True when level `a` is stricter than level `b`. */
export function isStricter(a: Level, b: Level): boolean {
  return levels.indexOf(a) > levels.indexOf(b)
}

/**
 * Returns the policy that the labels of a namespace define, and the errors in the labels (k8s.io/pod-security-admission/api:
 * PolicyToEvaluate).
 *
 * If the label `enforce` contains no valid level, the level of the mode `enforce` is:
 *
 * - `privileged`, if the label is missing.
 * - `restricted`, if the label is invalid.
 *
 * If the label `warn` contains no valid level, the level of the mode `warn` is:
 *
 * - the level of the mode `enforce`, if the label `warn` is missing and the label `enforce` is valid.
 * - `privileged` in all other cases.
 */
export function policyOf(labels: Labels): { readonly policy: PodSecurityPolicy; readonly errors: readonly FieldError[] } {
  const errors: FieldError[] = []
  const parsed = (name: 'enforce' | 'audit' | 'warn'): LevelVersion => {
    const level = labels[label(name)]
    if (level !== undefined && !isLevel(level))
      errors.push(invalid(`metadata.labels[${label(name)}]`, level, `must be one of ${levels.join(', ')}`))
    const version = labels[label(`${name}-version`)]
    const isVersion = version === undefined || version === 'latest' || /^v1\.(\d|[1-9]\d*)$/.test(version)
    if (!isVersion) errors.push(invalid(`metadata.labels[${label(`${name}-version`)}]`, version, 'must be "latest" or "v1.x"'))
    const otherwise = level !== undefined && name === 'enforce' ? 'restricted' : 'privileged'
    return { level: level !== undefined && isLevel(level) ? level : otherwise, version: isVersion ? (version ?? 'latest') : 'latest' }
  }
  const enforce = parsed('enforce')
  parsed('audit')
  const warn = parsed('warn')
  const enforced = labels[label('enforce')]
  const warnDefaultsToEnforce =
    labels[label('warn')] === undefined && enforced !== undefined && isLevel(enforced) && enforced !== 'privileged'
  if (!warnDefaultsToEnforce) return { policy: { enforce, warn }, errors }
  const version = labels[label('warn-version')] === undefined ? enforce.version : warn.version
  return { policy: { enforce, warn: { level: enforce.level, version } }, errors }
}

function isLevel(text: string): text is Level {
  return (levels as readonly string[]).includes(text)
}
