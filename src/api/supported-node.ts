/** The minimum version of Node.js that this package supports. */

const oldest = [22, 19] as const

/** Returns an error message that names the required version of Node.js; undefined when the version `found` is supported. */
export function nodeProblem(found: string = process.versions.node): string | undefined {
  const [major = 0, minor = 0] = found.split('.').map(Number)
  const isSupported = major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
  return isSupported ? undefined : `proreus needs Node.js ${oldest.join('.')} or later; this is ${found}.`
}
