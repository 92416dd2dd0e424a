/** The paths that webhooks are served under, those of kubebuilder. */
import type { GroupVersionKind } from '../api/group-version-kind.ts'

function pathOf(verb: 'mutate' | 'validate', { group, version, kind }: GroupVersionKind): string {
  return `/${verb}-${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}`
}

/** `/mutate-apps-example-com-v1-mykind`. */
export function mutatePath(type: GroupVersionKind): string {
  return pathOf('mutate', type)
}

/** `/validate-apps-example-com-v1-mykind`. */
export function validatePath(type: GroupVersionKind): string {
  return pathOf('validate', type)
}

/** Where objects of every kind are converted. */
export const conversionPath = '/convert'
