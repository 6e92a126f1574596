import { Component, type ReactNode, Suspense } from "react";

interface Props {
  children: ReactNode;
  /** What stands there until the code has come. */
  waiting?: ReactNode;
}

/**
 * A part whose code is fetched when it is first wanted. Where that fails (the server is away) the rest of the page stays,
 * and the part says so: without a boundary one failed fetch would leave an empty page.
 */
export class Fetched extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    const { children, waiting } = this.props;
    if (!this.state.failed) return <Suspense fallback={waiting}>{children}</Suspense>;
    return (
      <div className="trouble" role="alert">
        <strong>This part could not be shown.</strong>
        <p>
          Where the server is away, it can be when that answers again.{" "}
          <button type="button" onClick={() => location.reload()}>
            Reload
          </button>
        </p>
      </div>
    );
  }
}
