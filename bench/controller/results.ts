/** `Results`: collects the samples of all rounds, and prints the medians, the ratios of Proreus to the other programs, and every sample. */
import { median, table } from '../table.ts'
import { proreus } from './programs.ts'

export interface Column {
  readonly head: string
  /** The number of digits after the decimal point. */
  readonly digits: number
  /** True to print the ratios of Proreus to the other programs for this column. */
  readonly ratio?: boolean
}

export class Results<Sample extends { readonly [Key in keyof Sample]: number }> {
  readonly #title: string
  readonly #columns: readonly (readonly [keyof Sample, Column])[]
  readonly #samples = new Map<string, Sample[]>()

  constructor(title: string, columns: { readonly [Key in keyof Sample]: Column }) {
    this.#title = title
    this.#columns = Object.entries<Column>(columns) as [keyof Sample, Column][]
  }

  /**
   * Adds the sample of one round. `name` consists of the name of the program and an ending such as `, 8 workers`. The ending is empty if
   * there is only one measurement of each program.
   */
  add(name: string, sample: Sample): void {
    const text = this.#columns.map(([key, { head, digits }]) => `${head} ${shown(sample[key], digits)}`).join(', ')
    process.stderr.write(`${name}: ${text}\n`)
    this.#samples.set(name, [...(this.#samples.get(name) ?? []), sample])
  }

  /**
   * Prints the tables: the medians, the ratios and every sample. Each ratio is the median of Proreus divided by the median of another
   * program. The two medians of a ratio belong to names with the same ending, e.g. `, 8 workers`.
   *
   * @param endings the endings of the names that were passed to `add`, in the order of the table rows.
   */
  print(endings: readonly string[]): void {
    const names = [...this.#samples.keys()].sort((a, b) => endings.findIndex(ends(a)) - endings.findIndex(ends(b)))
    const heads = this.#columns.map(([, { head }]) => head)
    const medians = names.map((name) => [name, ...this.#columns.map(([key, { digits }]) => shown(this.#median(name, key), digits))])
    process.stdout.write(`\n## ${this.#title}\n\n${table(['', ...heads], medians)}`)
    const compared = this.#columns.filter(([, { ratio }]) => ratio === true)
    const ratios = names
      .filter((name) => !name.startsWith(proreus.name))
      .map((name) => {
        const mine = `${proreus.name}${endings.find(ends(name)) ?? ''}`
        return [`Proreus / ${name}`, ...compared.map(([key]) => shown(this.#median(mine, key) / this.#median(name, key), 2))]
      })
    const comparedHeads = compared.map(([, { head }]) => head)
    if (ratios.length > 0 && ratios.length < names.length) process.stdout.write(`\n${table(['', ...comparedHeads], ratios)}`)
    const rounds = names.map((name) => [
      name,
      ...this.#columns.map(([key, { digits }]) =>
        this.#samples
          .get(name)!
          .map((sample) => shown(sample[key], digits))
          .join(' '),
      ),
    ])
    process.stdout.write(`\nEvery round:\n\n${table(['', ...heads], rounds)}`)
  }

  #median(name: string, key: keyof Sample): number {
    return median((this.#samples.get(name) ?? []).map((sample) => sample[key]))
  }
}

/** Formats a number. Returns a dash for NaN, which stands for a value that a program does not report. */
function shown(value: number, digits: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(digits)
}

function ends(name: string): (ending: string) => boolean {
  return (ending) => name.endsWith(ending)
}
