/** The URL paths of webhooks, in kubebuilder's format. */
import type { GroupVersionKind } from '../../api/group-version-kind.ts'

/** The type, subresource and name of a webhook. They determine its path. */
interface PathTarget extends GroupVersionKind {
  /**
   * The subresource, such as `status`. If the subresource is empty (the default), the webhook is for the resource itself, and not for a
   * subresource.
   */
  readonly subresource?: string
  /** Distinguishes several webhooks for the same type. */
  readonly name?: string
}

/**
 * Returns the path of a webhook: `/VERB-TYPE[/SUBRESOURCE][.NAME]`. TYPE and SUBRESOURCE contain no slash and no dot, so webhooks with
 * different subresources or names have different paths. Each segment of the path is a DNS subdomain, as the API server requires.
 */
function pathOf(verb: 'mutate' | 'validate', { group, version, kind, subresource = '', name = '' }: PathTarget): string {
  const type = kind === '*' ? 'any' : `${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}`
  return `/${verb}-${type}${subresource === '' ? '' : `/${subresource}`}${name === '' ? '' : `.${name}`}`
}

/**
 * Returns a path such as `/mutate-apps-example-com-v1-mykind`, `/mutate--v1-pod` for the core group, or `/mutate--v1-pod/status` for a
 * subresource.
 */
export function mutatePath(target: PathTarget): string {
  return pathOf('mutate', target)
}

/** Returns a path such as `/validate-apps-example-com-v1-mykind`, or `/validate--v1-pod/exec` for a subresource. */
export function validatePath(target: PathTarget): string {
  return pathOf('validate', target)
}

/** The path of the conversion webhook, which converts the objects of all kinds. */
export const conversionPath = '/convert'
