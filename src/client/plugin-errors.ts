/** `PluginErrors`: the error output of a credential plugin, without secrets and of limited length. */
import { redactText } from '../telemetry/secret-text.ts'

/**
 * Maximum number of characters of the plugin's output that are copied to the error output of this process. The instructions that a plugin
 * prints for a login are shorter.
 */
const maxCopied = 8 * 1024
/** Maximum number of characters that are stored for an error message. The last characters of the output are stored. */
const maxKept = 8 * 1024
/** Maximum length of the error message. */
const maxMessage = 300
const truncated = '… (the plugin writes more than is shown)\n'

/**
 * Copies the error output of a plugin to the error output of this process while the plugin runs, because the plugin may print the URL of a
 * login page. Stores the end of the output for an error message. Secrets are redacted in both, because the plugin may also print tokens.
 */
export class PluginErrors {
  readonly #write: (text: string) => void
  /** The beginning of the output. If `#begin` has more than `maxCopied` characters, no more output is appended. */
  #begin = ''
  /** The redacted text that was written. */
  #written = ''
  #isFull = false
  #end = ''
  #isCut = false

  /** @param write writes to the error output of this process. */
  constructor(write: (text: string) => void) {
    this.#write = write
  }

  add(text: string): void {
    this.#isCut ||= this.#end.length + text.length > maxKept
    this.#end = (this.#end + text).slice(-maxKept)
    if (this.#isFull) return
    this.#begin += text
    // An incomplete line is not written, because it may end within a secret.
    if (this.#begin.length <= maxCopied) return this.#copy(this.#begin.slice(0, this.#begin.lastIndexOf('\n') + 1))
    this.#isFull = true
    this.#copy(this.#begin.slice(0, this.#begin.lastIndexOf('\n', maxCopied - 1) + 1))
    this.#write(truncated)
  }

  /**
   * Called when the plugin has ended. Writes an incomplete last line, which `add` does not write. If the output is longer than `maxCopied`,
   * writes nothing.
   */
  close(): void {
    if (!this.#isFull) this.#copy(this.#begin)
  }

  /** Returns the end of the output without secrets, for an error message. */
  message(): string {
    // If the beginning was cut off, the first word is removed, because this word may be the rest of a secret.
    const whole = this.#isCut ? this.#end.replace(/^\S*/, '') : this.#end
    return redactText(whole).trim().slice(-maxMessage)
  }

  /**
   * Redacts `lines`, which are all lines of the output so far, and writes the part that has not been written yet. All lines are redacted
   * together, because a private key has several lines.
   */
  #copy(lines: string): void {
    const clean = redactText(lines)
    if (!clean.startsWith(this.#written)) return
    const added = clean.slice(this.#written.length)
    this.#written = clean
    if (added !== '') this.#write(added)
  }
}
