/** Reads transcripts of commands in Markdown, and compares the outputs in them with the outputs of a run. */

/** A command of a transcript, and the output that follows it. */
export interface Step {
  readonly command: string
  readonly output: string
}

/** Returns the commands in the code blocks of a text, in the order of the text. A command is a line that begins with `$ `. */
export function stepsOf(markdown: string): readonly Step[] {
  const blocks = [...markdown.matchAll(/^```\n(\$ [\s\S]*?)^```$/gm)].map(([, block = '']) => block)
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const end = step.indexOf('\n')
        return { command: step.slice(0, end).trim(), output: step.slice(end + 1) }
      }),
  )
}

/**
 * The parts of an output that differ from run to run. `documented` matches such a part in a transcript. `accepted` is the pattern for this
 * part in the output of a run. In a transcript, `…` stands for any text without a line break.
 */
const variable: readonly (readonly [documented: RegExp, accepted: string])[] = [
  [/…/, '.*'],
  [/ {2,}/, ' +'],
  [/\b(?:\d+[dhms])+\b/, '(?:\\d+[dhms])+'],
  [/-[0-9a-z]{8,10}-[0-9a-z]{5}\b/, '-[0-9a-z]{8,10}-[0-9a-z]{5}'],
  [/\b10\.\d+\.\d+\.\d+\b/, '10\\.\\d+\\.\\d+\\.\\d+'],
]
const anyVariable = new RegExp(variable.map(([documented]) => `(${documented.source})`).join('|'), 'g')

/**
 * Returns a pattern for a documented output. The pattern matches the same output with other ages, other random parts of names, other
 * addresses of Pods and nodes, and other widths of columns.
 */
export function patternOf(output: string): RegExp {
  let pattern = ''
  let end = 0
  for (const match of output.matchAll(anyVariable)) {
    pattern += escaped(output.slice(end, match.index)) + variable[match.slice(1).findIndex((group) => group !== undefined)]![1]
    end = match.index + match[0].length
  }
  return new RegExp(`^${pattern}${escaped(output.slice(end))}$`)
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
