import { Injectable } from '@nestjs/common';
import type { HeldWrite, QuarantinedWrite } from '../turn/extension-points.js';

/** How held writes are carried out: each room registers its own kind when it starts. */
@Injectable()
export class QuarantinedWrites {
  private readonly kinds = new Map<string, QuarantinedWrite>();

  /** Throws if the kind is taken. */
  register(write: QuarantinedWrite): void {
    if (this.kinds.has(write.kind)) throw new Error(`two rooms register quarantined writes of kind ${write.kind}`);
    this.kinds.set(write.kind, write);
  }

  /** Throws if no room has registered the kind. */
  async apply(kind: string, held: HeldWrite): Promise<void> {
    const write = this.kinds.get(kind);
    if (!write) throw new Error(`no room carries out quarantined writes of kind ${kind}`);
    await write.apply(held);
  }
}
